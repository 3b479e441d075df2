import { ToolError } from '../tool-error.js';

/**
 * - `mcp_unavailable`: it cannot be started or connected to, or does not answer in time
 * - `mcp_unauthorized`: it does not accept the credentials
 * - `mcp_address_refused`: it leads to an address that must not be connected to
 * - `mcp_invalid_tools`: its list of tools cannot be used
 * - `mcp_connection_lost`: it went away during a call that changes nothing, again and again
 * - `mcp_call_refused`: it refused a call by an error of the protocol
 * - `mcp_tool_error`: the tool reports an error
 * - `mcp_bad_answer`: an answer that the protocol does not know
 */
export type McpErrorCode =
  | 'mcp_unavailable'
  | 'mcp_unauthorized'
  | 'mcp_address_refused'
  | 'mcp_invalid_tools'
  | 'mcp_connection_lost'
  | 'mcp_call_refused'
  | 'mcp_tool_error'
  | 'mcp_bad_answer'
  | 'tool_result_too_large'
  | 'tool_outcome_unknown';

/** A failure of a server of tools. The message holds nothing of its settings, which may be secret. */
export class McpError extends ToolError {
  override readonly name = 'McpError';
  declare readonly code: McpErrorCode;
}
