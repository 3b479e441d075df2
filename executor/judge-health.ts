import type {
  HealthFacts,
  HealthPart,
  HealthReply,
  RecordFacts,
  Counts,
} from '../protocol/health.js';
import {
  describe,
  duration,
  group,
  isMuch,
  outcomesOfRuns,
  plural,
  wait,
  type Group,
} from './health-counts.js';

/** Tasks that wait longer than this show that there are too few workers. */
const BACKLOG_MS = 30_000;
/** The sweeper looks every few seconds. */
const UNSWEPT_MS = 60_000;
/** Questions that wait longer than this are worth a reminder. */
const LONG_WAIT_MS = 4 * 60 * 60_000;
/** Shares of failures, and how many there must be, before they mean something. */
const MODEL_FAILURES = { share: 0.2, least: 3 };
const TOOL_FAILURES = { share: 0.5, least: 5 };
const RUN_FAILURES = { share: 0.05, least: 1 };

const PROVIDER_CODES = /^(provider_|model_stalled)/;
const RANK = { ok: 0, warn: 1, bad: 2 } as const;

/**
 * Judges facts by fixed rules. The next action is that of the worst part; among equals that of the
 * first, since what flow lacks explains what comes after it. Pure.
 */
export function judgeHealth({ record, ...others }: HealthFacts): HealthReply {
  const found =
    'fault' in record
      ? judgeWithoutRecord(record.fault, others)
      : judgeParts({ ...record, ...others });
  const parts = Object.values(found);
  const worst = parts.reduce((a, b) => (RANK[b.state] > RANK[a.state] ? b : a));
  return {
    verdict: worst.state,
    ...found,
    next: worst.next ?? 'Nothing to do.',
  };
}

type Parts = Record<'flow' | 'execution' | 'liveness' | 'people', HealthPart>;
type Facts = RecordFacts & Omit<HealthFacts, 'record'>;

function judgeParts(facts: Facts): Parts {
  return {
    flow: judgeFlow(facts),
    execution: judgeExecution(facts),
    liveness: judgeLiveness(facts),
    people: judgePeople(facts),
  };
}

/** Without Redis no message is taken, and only Temporal can be asked. */
function judgeWithoutRecord(fault: string, { queues }: Pick<HealthFacts, 'queues'>): Parts {
  const next =
    'Check that Redis runs at REDIS_URL, and that this API may use it: helix-temporal doctor names what is wrong.';
  const what = fault.charAt(0).toLowerCase() + fault.slice(1).replace(/\.$/, '');
  const also = queues === undefined ? '; Temporal does not answer either' : '';
  const unknown = warn('Not known while Redis does not serve.', next);
  return {
    flow: bad(`No message is taken: ${what}${also}.`, next),
    execution: unknown,
    liveness: unknown,
    people: unknown,
  };
}

function judgeFlow({ queues, workers, paused, ...happened }: Facts): HealthPart {
  if (queues === undefined) {
    const next = 'Check that Temporal runs at TEMPORAL_ADDRESS, and that this API may reach it.';
    return bad('Temporal does not answer; messages are stored and wait.', next);
  }
  const { taskQueue, pollers, backlog, backlogAgeMs } = queues;
  if (workers === 0 || pollers.runs === 0 || pollers.steps === 0) {
    const next = `Start a worker with TASK_QUEUE=${taskQueue}, or read the log of the one that ended.`;
    return bad(`No worker takes runs from "${taskQueue}".`, next);
  }
  if (pollers.tools === 0) {
    const next = `Restart the workers of ${taskQueue}: the part of them that runs tools has ended.`;
    return bad(`No worker takes tools of "${taskQueue}".`, next);
  }
  if (backlog > 0 && backlogAgeMs > BACKLOG_MS) {
    const text = `${plural(backlog, 'task')} ${wait(backlog)} for a worker, the oldest for ${duration(backlogAgeMs)}.`;
    return warn(text, 'Add workers, or raise MODEL_SLOTS and TOOL_SLOTS.');
  }
  const [first] = paused.agents;
  if (first !== undefined) {
    const text = `Paused: ${paused.agents.join(', ')}; ${plural(paused.held, 'run')} ${wait(paused.held)} for it.`;
    return warn(text, `Resume it once it may work: helix-temporal agent unpause ${first}.`);
  }
  const silence = findSilence(happened);
  if (silence !== undefined) {
    const next = 'Look whether messages reach the API: from the page, at the proxy, in its log.';
    return warn(silence, next);
  }
  const tasks = backlog === 0 ? 'no task waits' : `${plural(backlog, 'task')} ${wait(backlog)}`;
  const alive = workers === undefined ? 'Workers' : plural(workers, 'worker');
  return ok(`${alive} on "${taskQueue}", ${tasks}.`);
}

function judgeExecution({ counts, week, periodMs }: Facts): HealthPart {
  const within = `in the last ${duration(periodMs)}`;
  const model = group(counts, 'model:', 'ok');
  const ofModels = (more = ''): string =>
    `The provider failed ${String(model.failed)} of ${plural(model.total, 'model call')} ${within}${more}: ${describe(model.codes)}.`;
  if (isMuch(model, MODEL_FAILURES)) {
    return bad(ofModels(), adviseOnProvider(model.codes[0]?.[0]));
  }
  const runs = outcomesOfRuns(counts);
  const ours = failedByUs(runs);
  const ofRuns = (more = ''): string =>
    `${String(ours.failed)} of ${plural(runs.total, 'run')} failed here ${within}${more}: ${describe(ours.codes)}.`;
  const readLog = `Read the workers' log for ${ours.codes[0]?.[0] ?? ''}; see docs/runbook.md#helixrunsfail.`;
  if (isMuch(ours, RUN_FAILURES)) return bad(ofRuns(), readLog);
  if (isMuch(runs, RUN_FAILURES)) {
    const text = `${String(runs.failed)} of ${plural(runs.total, 'run')} failed because of the provider ${within}: ${describe(runs.codes)}.`;
    return warn(text, adviseOnProvider(runs.codes[0]?.[0]));
  }
  const tool = group(counts, 'tool:', 'ok');
  const ofTools = (more = ''): string =>
    `${String(tool.failed)} of ${plural(tool.total, 'tool execution')} failed ${within}${more}.`;
  const findTool = "Look for 'tool failed' in the workers' log: it names tool and place.";
  if (isMuch(tool, TOOL_FAILURES)) return warn(ofTools(), findTool);

  const unusualRuns = findUnusual(ours, week, (day) => failedByUs(outcomesOfRuns(day)));
  if (unusualRuns !== undefined) return warn(ofRuns(unusualRuns), readLog);
  const unusualCalls = findUnusual(model, week, (day) => group(day, 'model:', 'ok'));
  if (unusualCalls !== undefined) {
    return warn(ofModels(unusualCalls), adviseOnProvider(model.codes[0]?.[0]));
  }
  const unusualTools = findUnusual(tool, week, (day) => group(day, 'tool:', 'ok'));
  if (unusualTools !== undefined) return warn(ofTools(unusualTools), findTool);
  const calls = plural(model.total, 'model call');
  return ok(`${plural(runs.total, 'run')} ended and ${calls} were made ${within}.`);
}

/** The failures that no provider has caused. */
function failedByUs({ codes, total }: Group): Group {
  const ours = codes.filter(([code]) => !PROVIDER_CODES.test(code));
  return { failed: ours.reduce((sum, [, count]) => sum + count, 0), total, codes: ours };
}

function adviseOnProvider(code = ''): string {
  if (code === 'provider_unauthorized') return "Renew the provider's key on the workers.";
  if (code === 'provider_quota_exhausted') return "Raise the account's quota at the provider.";
  if (code === 'provider_rate_limited') {
    return 'Raise the rate limit at the provider, or lower MODEL_SLOTS.';
  }
  return "Look at the provider's status page; runs are tried again for 10 minutes.";
}

function judgeLiveness({ workers, sweptMs, counts, periodMs }: Facts): HealthPart {
  if (workers === 0) return bad('No worker is alive.', 'Start a worker.');
  if (sweptMs === undefined || sweptMs > UNSWEPT_MS) {
    const since = sweptMs === undefined ? 'never' : `${duration(sweptMs)} ago`;
    const text = `Lost runs were last looked for ${since === 'never' ? 'never' : since}.`;
    return bad(text, "Look for 'sweep failed' in the workers' log.");
  }
  const judged = counts['lease:judged'] ?? 0;
  if (judged > 0) {
    const text = `${plural(judged, 'worker')} died in the last ${duration(periodMs)}; others took over.`;
    return warn(text, 'Find out why: memory limits of the container, and the log before its end.');
  }
  const notices = judgeNotices(counts, duration(periodMs));
  if (notices !== undefined) return notices;
  return ok(`Lost runs were looked for ${duration(sweptMs)} ago.`);
}

/** Undefined unless receivers miss notices. */
function judgeNotices(counts: Facts['counts'], period: string): HealthPart | undefined {
  const { 'notice:failed': failed = 0, 'notice:retried': retried = 0 } = counts;
  const list = 'helix-temporal delivery list --status';
  if (failed > 0) {
    const text = `${plural(failed, 'notice')} could not be delivered in the last ${period}.`;
    return warn(text, `Repair the receiver that ${list} failed names, then delivery redeliver.`);
  }
  if (retried === 0 || (counts['notice:delivered'] ?? 0) > 0) return undefined;
  const text = `No receiver takes notices: ${plural(retried, 'attempt')} failed in the last ${period}.`;
  return warn(text, `Look at the receivers that ${list} running names: they are tried again.`);
}

function judgePeople({ waiting, counts, periodMs }: Facts): HealthPart {
  const { count, oldestMs = 0 } = waiting;
  const expired = counts['answer:expired'] ?? 0;
  if (expired > 0) {
    const text = `${plural(expired, 'question')} expired unanswered in the last ${duration(periodMs)}.`;
    return warn(text, 'Tell the people who approve, or give the tools longer deadlines.');
  }
  if (count > 0 && oldestMs > LONG_WAIT_MS) {
    const text = `${plural(count, 'conversation')} ${wait(count)} for people, the oldest for ${duration(oldestMs)}.`;
    return warn(text, 'Tell the people who approve that something waits.');
  }
  if (count === 0) return ok('Nothing waits for people.');
  const oldest = `the oldest for ${duration(oldestMs)}`;
  return ok(`${plural(count, 'conversation')} ${wait(count)} for people, ${oldest}.`);
}

const ok = (text: string): HealthPart => ({ state: 'ok', text });
const warn = (text: string, next: string): HealthPart => ({ state: 'warn', text, next });
const bad = (text: string, next: string): HealthPart => ({ state: 'bad', text, next });

/** Compares a period with the same hours of the seven days before it. Pure. */

/** Failures below the limits of the verdict are unusual if their share has grown this much. */
const GROWTH = 3;

/** So many failures now, and so much that the week before is known by, before shares mean something. */
const LEAST_FAILED = 3;

const LEAST_KNOWN = 30;

/** Whatever was usual, fewer failures than this share are worth no warning. */
const LEAST_SHARE = 0.01;

/** A quiet hour of a busy service: fewer runs than this share of the quietest of the seven days. */
const QUIET_SHARE = 0.1;

const LEAST_RUNS = 10;

/** What is usual, in words, if failures are far more frequent than that. */
function findUnusual(
  { failed, total }: Pick<Group, 'failed' | 'total'>,
  week: readonly Counts[],
  toGroup: (day: Counts) => Pick<Group, 'failed' | 'total'>,
): string | undefined {
  const days = week.map(toGroup);
  const known = days.reduce((sum, day) => sum + day.total, 0);
  const usual = days.reduce((sum, day) => sum + day.failed, 0);
  if (failed < LEAST_FAILED || known < LEAST_KNOWN) return undefined;
  if (failed / total < LEAST_SHARE || failed / total <= (GROWTH * usual) / known) return undefined;
  return `, ${percent(failed / total)} where ${percent(usual / known)} were usual in the 7 days before`;
}

/** Says that hardly any run has ended, where on each of the seven days there were many at this time. */
function findSilence({
  counts,
  week,
  periodMs,
}: {
  counts: Counts;
  week: readonly Counts[];
  periodMs: number;
}): string | undefined {
  const now = outcomesOfRuns(counts).total;
  const quietest = Math.min(...week.map((day) => outcomesOfRuns(day).total));
  // Without a week to compare with it is no number.
  if (!Number.isFinite(quietest) || quietest < LEAST_RUNS || now >= quietest * QUIET_SHARE) {
    return undefined;
  }
  const least = `there were ${String(quietest)} or more at this time on each of the 7 days before`;
  return `${plural(now, 'run')} ended in the last ${duration(periodMs)}; ${least}.`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
