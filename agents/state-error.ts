import { ToolError } from './tool-error.js';

/**
 * `state_invalid`: it does not fit the schema, or is no JSON, or is nested too deeply; `state_too_large`;
 * `state_missing`: the agent has none.
 */
export type StateErrorCode = 'state_invalid' | 'state_too_large' | 'state_missing';

/** The agent's own state cannot be read or changed so; nothing was changed. */
export class StateError extends ToolError {
  override readonly name = 'StateError';
  declare readonly code: StateErrorCode;
}
