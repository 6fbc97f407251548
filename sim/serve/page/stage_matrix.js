function stage_matrix() { return null; }
