import type { ReceiverLook } from './look-at-receivers.js';
import { verdictsOn, type Verdict } from './verdict.js';

const NODE = { major: 20, minor: 19 } as const;

/** @param version as in `process.versions.node` */
export function judgeNode(version: string): Verdict {
  const node = verdictsOn('node');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = major > NODE.major || (major === NODE.major && minor >= NODE.minor);
  if (isNew) return node.ok(`${version}.`);
  const oldest = `${String(NODE.major)}.${String(NODE.minor)}`;
  return node.fail(`Node ${version} is too old.`, `Install Node ${oldest} or newer.`);
}

/** Judges the workers' model, named by `MODEL`; `fault` says why it cannot be created. */
export function judgeModel(model: string | undefined, fault: string | undefined): Verdict {
  const verdict = verdictsOn('model');
  if (fault !== undefined) return verdict.fail(fault, 'It is a setting of the workers.');
  if (model === undefined || model === 'scripted') {
    return verdict.note(
      'Agents of the demo use the scripted model.',
      'MODEL names another one, for example openai:gpt-5, with its key in OPENAI_API_KEY.',
    );
  }
  return verdict.ok(`${model}, and what it needs is set.`);
}

/** Warns of agents without prices, whose cost budgets cannot count. Pure. */
export function judgePrices(unpriced: readonly string[] | { fault: string }): Verdict {
  const budgets = verdictsOn('budgets');
  if ('fault' in unpriced)
    return budgets.fail(unpriced.fault, 'Correct the file that AGENTS names.');
  if (unpriced.length === 0) return budgets.ok('All agents have prices.');
  return budgets.warn(
    `No budget counts what these cost, since they have no prices: ${unpriced.join(', ')}.`,
    'Set llmConfig.pricing of these agents, or take the BUDGET_… settings out.',
  );
}

/** Judges receivers of notices, which conversations do not depend on. Pure. */
export function judgeReceivers(looks: readonly ReceiverLook[] | { fault: string }): Verdict[] {
  const receivers = verdictsOn('receivers');
  if ('fault' in looks) {
    return [receivers.fail(looks.fault, 'Correct NOTIFY_RECEIVERS; docs/notifications.md has it.')];
  }
  return looks.map(({ name, host, fault }) =>
    fault === undefined
      ? receivers.ok(`${name}: ${host} can be reached.`)
      : receivers.warn(
          `${name}: ${host} cannot be reached: ${fault.replace(/\.$/, '')}.`,
          `Open the way from the workers to it; then helix-temporal webhook test ${name}.`,
        ),
  );
}

/** The API's readiness, or the reason why it does not answer. */
export type ApiLook = { url: string } & ({ away: string[]; isReady: boolean } | { fault: string });

/** A silent API is judged apart from the engines: it may not have been started yet. */
export function judgeApi(look: ApiLook): Verdict {
  const api = verdictsOn('api');
  if ('fault' in look) return api.warn(look.fault);
  const { url, isReady, away } = look;
  if (isReady && away.length === 0) return api.ok(`${url} is ready.`);
  const parts =
    away.length === 0 ? 'It has not seen all its parts yet.' : `Away for it: ${away.join(', ')}.`;
  return api[isReady ? 'warn' : 'fail'](
    `${url} is ${isReady ? 'ready, with parts missing' : 'not ready'}. ${parts}`,
    'Compare REDIS_URL, TEMPORAL_ADDRESS and TASK_QUEUE of the API with those here; its log has the reason.',
  );
}
