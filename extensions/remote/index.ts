/** Agents on other servers, as tools. */
export { createRemoteSubAgentTool } from './create-remote-sub-agent-tool.js';
export type { RemoteSubAgentToolConfig } from './create-remote-sub-agent-tool.js';
export { HttpRemoteAgentTransport } from './http-remote-agent-transport.js';
export type { HttpRemoteAgentOptions } from './http-remote-agent-transport.js';
export {
  RemoteRefusal,
  RemoteSubAgentClientToolUnsupportedError,
  RemoteSubAgentFailedError,
  RemoteSubAgentLostError,
} from './remote-transport.js';
export type { RemoteAgentTransport, RemoteStart } from './remote-transport.js';
