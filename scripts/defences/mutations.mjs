// All defences, each with an edit that takes it out and the test that must then fail.
// `edits` are pairs of a text that stands in the file exactly once, and what comes in its place.
import { access } from './access-mutations.mjs';
import { agents } from './agent-mutations.mjs';
import { fromAiSdk } from './ai-sdk-mutations.mjs';
import { attempts } from './attempt-mutations.mjs';
import { auditFeed } from './audit-feed-mutations.mjs';
import { audit } from './audit-mutations.mjs';
import { authority } from './authority-mutations.mjs';
import { badInput } from './bad-input-mutations.mjs';
import { bounds } from './bound-mutations.mjs';
import { bridge } from './bridge-mutations.mjs';
import { bulk } from './bulk-mutations.mjs';
import { calls } from './call-mutations.mjs';
import { calledRuns } from './called-run-mutations.mjs';
import { checkOrder } from './check-order-mutations.mjs';
import { commandLine } from './command-line-mutations.mjs';
import { clients } from './client-mutations.mjs';
import { deadlines } from './deadline-mutations.mjs';
import { executor } from './executor-mutations.mjs';
import { files } from './file-mutations.mjs';
import { fronts } from './front-mutations.mjs';
import { compactions } from './compaction-mutations.mjs';
import { guardrails } from './guardrail-mutations.mjs';
import { hooks } from './hook-mutations.mjs';
import { chaos } from './chaos-mutations.mjs';
import { page } from './page-mutations.mjs';
import { consolePage } from './console-mutations.mjs';
import { inbox } from './inbox-mutations.mjs';
import { leases } from './lease-mutations.mjs';
import { mcp } from './mcp-mutations.mjs';
import { metrics } from './metric-mutations.mjs';
import { modelSteps } from './model-step-mutations.mjs';
import { notices } from './notice-mutations.mjs';
import { ownAgents } from './own-agents-mutations.mjs';
import { owners } from './owner-mutations.mjs';
import { ports } from './ports-mutations.mjs';
import { programs } from './program-mutations.mjs';
import { project } from './project-mutations.mjs';
import { providers } from './provider-mutations.mjs';
import { queue } from './queue-mutations.mjs';
import { quotas } from './quota-mutations.mjs';
import { readers } from './reader-mutations.mjs';
import { remote } from './remote-mutations.mjs';
import { resumes } from './resume-mutations.mjs';
import { rewinds } from './rewind-mutations.mjs';
import { legs } from './leg-mutations.mjs';
import { runs } from './run-mutations.mjs';
import { subAgents } from './sub-agent-mutations.mjs';
import { testKit } from './test-kit-mutations.mjs';
import { tokens } from './token-mutations.mjs';
import { toolCalls } from './tool-call-mutations.mjs';
import { traces } from './trace-mutations.mjs';
import { transitions } from './transition-mutations.mjs';
import { upgrade } from './upgrade-mutations.mjs';
import { waiting } from './waiting-mutations.mjs';
import { workers } from './worker-mutations.mjs';
import { schedules } from './schedule-mutations.mjs';

const SUITE = 'test/stores/conformance/memory.test.ts';

export const mutations = [
  ...traces,
  ...transitions,
  ...calls,
  ...calledRuns,
  ...schedules,
  ...waiting,
  ...attempts,
  ...checkOrder,
  ...deadlines,
  ...queue,
  ...quotas,
  ...inbox,
  ...ownAgents,
  ...audit,
  ...auditFeed,
  ...rewinds,
  ...resumes,
  ...subAgents,
  ...readers,
  ...legs,
  ...runs,
  ...executor,
  ...modelSteps,
  ...toolCalls,
  ...workers,
  ...leases,
  ...mcp,
  ...metrics,
  ...bridge,
  ...access,
  ...authority,
  ...bounds,
  ...tokens,
  ...owners,
  ...ports,
  ...providers,
  ...remote,
  ...fronts,
  ...compactions,
  ...guardrails,
  ...clients,
  ...bulk,
  ...notices,
  ...commandLine,
  ...files,
  ...hooks,
  ...consolePage,
  ...page,
  ...badInput,
  ...chaos,
  ...testKit,
  ...upgrade,
  ...agents,
  ...programs,
  ...fromAiSdk,
  ...project,
].map((mutation) => ({
  suite: SUITE,
  ...mutation,
}));
