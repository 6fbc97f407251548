function stage_pipeline() { return null; }
