import { say } from './api-server.js';

export interface Asked {
  query?: string;
  body?: object;
}

const FILE = new Blob(['a'], { type: 'text/plain' });

/** A valid request for each route. */
export const ASKED: Record<string, (id: string) => Asked> = {
  postChat: (id) => ({ body: { id, messages: [say('u2', 'hi')] } }),
  postChatSession: () => ({ body: { messages: [say('u2', 'hi')] } }),
  followChat: () => ({}),
  followChatStream: () => ({}),
  getSnapshot: () => ({}),
  listMessages: () => ({}),
  getSubAgentReport: () => ({}),
  followSession: () => ({}),
  deleteChat: () => ({}),
  stopChat: () => ({ body: {} }),
  answerCall: () => ({ body: { approved: true } }),
  extendDeadline: () => ({ body: { byMs: 1_000 } }),
  leaseCall: () => ({ body: { holder: 'page' } }),
  getQueue: () => ({}),
  editQueue: () => ({ body: { id: 'u1', text: 'x' } }),
  clearQueue: () => ({}),
  retryChat: () => ({ body: {} }),
  branchChat: () => ({ body: { sessionId: 'copy' } }),
  listCheckpoints: () => ({}),
  getPending: () => ({}),
  uploadFile: () => ({ body: FILE }),
  getFile: () => ({}),
  deleteFile: () => ({}),
  startAgent: (sessionId) => ({ body: { sessionId, message: 'hi', agent: 'tester' } }),
  resumeAgent: (sessionId) => ({ body: { sessionId } }),
  submitToolResult: (sessionId) => ({ body: { sessionId, toolCallId: 'c2', result: 1 } }),
  interruptAgent: (sessionId) => ({ body: { sessionId } }),
  abortAgent: (sessionId) => ({ body: { sessionId } }),
  getAgentStatus: (sessionId) => ({ query: `?sessionId=${sessionId}` }),
  followAgent: (sessionId) => ({ query: `?sessionId=${sessionId}` }),
};

/** A valid request for each route of operators; `:runId` is the session's newest run. */
export const ASKED_BY_OPERATORS: Record<string, Asked> = {
  listTenantWaiting: {},
  answerTenantCall: { body: { approved: true } },
  extendTenantDeadline: { body: { byMs: 1_000 } },
  listRuns: {},
  countRuns: {},
  getRun: {},
  getRunStep: {},
  stopRun: { body: {} },
  resumeRun: { body: {} },
  retryRun: { body: {} },
  readTenantSession: {},
  listRunEvents: {},
  forkRun: { body: { step: 0 } },
  createSchedule: {
    body: { name: 'daily', agent: 'tester', message: 'hi', owner: 'eve', cron: '@daily' },
  },
  listSchedules: {},
  getSchedule: {},
  pauseSchedule: { body: {} },
  resumeSchedule: { body: {} },
  triggerSchedule: {},
  deleteSchedule: {},
  listAgents: {},
  pauseAgent: { body: {} },
  unpauseAgent: { body: {} },
  listReceivers: {},
  testReceiver: { body: {} },
  listAudit: {},
  verifyAudit: {},
  openSealedName: {},
  exportAudit: {},
  getUsage: {},
  exportPerson: {},
  erasePerson: {},
};

/**
 * Routes that name no session. `listWaiting` and `listConversations` are in `waiting.test.ts` and
 * `conversations.test.ts`.
 */
export const OF_NO_SESSION = [
  'listWaiting',
  'listConversations',
  'getConfig',
  'decodePayloads',
  'encodePayloads',
  'exportMe',
  'listWorkers',
  'eraseMe',
  'createCompletion',
  'runAgUi',
  'listModels',
  'getModel',
  'callWebhook',
  'getOpenApi',
  'getHealth',
  'getReadiness',
  'getMetrics',
];
