/** Codes for calls that were never carried out, with the text for the model. */
export const SETTLED_TEXTS = {
  run_stopped: 'The run was stopped before this call was carried out.',
  run_failed: 'The run failed before this call was carried out.',
  client_tool_abandoned: 'The user continued without answering this call.',
  tool_outcome_unknown:
    'The tool had started when its worker was lost or stopped; whether it took effect is not known.',
};
