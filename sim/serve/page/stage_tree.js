function stage_tree() { return null; }
