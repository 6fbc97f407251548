function stage_rows() { return null; }
