function stage_pairs() { return null; }
