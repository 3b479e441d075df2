/** `errorCode` of a client tool's call that has no result: no answer came, or it reports a failure, or the run is over. */
export const CLIENT_TOOL_ERROR_CODES = [
  'client_tool_timeout',
  'client_tool_abandoned',
  'client_tool_failed',
  'run_stopped',
  'run_failed',
] as const;
export type ClientToolErrorCode = (typeof CLIENT_TOOL_ERROR_CODES)[number];
