import type { SystemModelMessage } from 'ai';

/** Instructions; messages can carry `providerOptions`, such as a cache point. */
export type Instructions = string | SystemModelMessage | readonly SystemModelMessage[];
