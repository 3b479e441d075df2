import {
  toConnectionFault,
  toKeysFault,
  toNamespaceFault,
  toUndescribedFault,
  type Finding,
  type TemporalFacts,
} from '../../extensions/doctor/index.js';
import { POLL_MS } from '../../runs/workers.js';
import { SEARCH_ATTRIBUTES } from '../../protocol/temporal.js';
import { verdictsOn, type Verdict } from './verdict.js';

export interface TemporalLook {
  address: string;
  namespace: string;
  taskQueue: string;
  facts: Finding<TemporalFacts>;
  keyIds: readonly string[];
  /** False skips findings that are normal before the first worker starts. */
  expectsWorker: boolean;
  /** ms since the epoch; the server's clock takes precedence if known. */
  now: number;
}

/** The retention that docs/production.md asks for; lists of runs are made from what it keeps. */
const RETENTION_HOURS = 24;

const INDEXED = { KEYWORD: 'Keyword', INT: 'Int' } as const;

export function checkTemporal(look: TemporalLook): Verdict[] {
  const { address, facts } = look;
  const temporal = verdictsOn('temporal');
  if ('refusal' in facts) {
    const { finding, fix } = toConnectionFault(address, facts.refusal);
    return [temporal.fail(finding, fix)];
  }
  const found = facts.value;
  const namespace = checkNamespace(look, found);
  const server = temporal.ok(`${found.serverVersion || 'Version unknown'} at ${address}.`);
  // Everything below needs the namespace.
  if (namespace.level === 'fail') return [server, namespace];
  return [
    server,
    namespace,
    checkAttributes(look, found),
    ...(look.expectsWorker ? [checkWorkers(look, found)] : []),
    checkKeys(look, found),
  ];
}

function checkNamespace({ namespace }: TemporalLook, facts: TemporalFacts): Verdict {
  const verdict = verdictsOn('temporal namespace');
  const described = facts.namespace;
  if ('value' in described) {
    const hours = described.value.retentionMs / 3_600_000;
    if (hours === 0 || hours >= RETENTION_HOURS) return verdict.ok(`"${namespace}".`);
    return verdict.warn(
      `"${namespace}" keeps ended runs for only ${String(Math.round(hours * 10) / 10)} h; then they are gone from the console, \`run list\` and the Temporal UI.`,
      `temporal operator namespace update -n ${namespace} --retention ${String(RETENTION_HOURS)}h`,
    );
  }
  const undescribed = toUndescribedFault(namespace, facts);
  if (undescribed !== undefined) return verdict.warn(undescribed.finding, undescribed.fix);
  const fault = toNamespaceFault(namespace, described.refusal);
  if (fault !== undefined) return verdict.fail(fault.finding, fault.fix);
  return verdict.warn(
    `The namespace "${namespace}" could not be read: ${described.refusal.message}.`,
  );
}

function checkAttributes({ namespace }: TemporalLook, facts: TemporalFacts): Verdict {
  const verdict = verdictsOn('search attributes');
  const listed = facts.searchAttributes;
  if ('refusal' in listed) {
    return verdict.note(
      `They could not be listed (${listed.refusal.message}), as on Temporal Cloud.`,
      'Without them runs have no labels. Compare with docs/deploying.md.',
    );
  }
  const not = Object.entries(listed.value).filter(([, state]) => state !== 'present');
  if (not.length === 0) return verdict.ok('All of them are there.');
  const others = not.filter(([, state]) => state === 'other type').map(([name]) => name);
  if (others.length > 0) {
    return verdict.fail(
      `${others.join(', ')} has another type than runs need: runs have no labels, and cannot be filtered.`,
      `Remove it (temporal operator search-attribute remove), or use another namespace (TEMPORAL_NAMESPACE).`,
    );
  }
  const names = not.map(([name]) => name as keyof typeof SEARCH_ATTRIBUTES);
  const options = names.map((name) => `--name ${name} --type ${INDEXED[SEARCH_ATTRIBUTES[name]]}`);
  return verdict.warn(
    `${names.join(', ')} is missing: runs have no labels, and cannot be filtered.`,
    `API and workers add it when they start, if they may; else: temporal operator search-attribute create -n ${namespace} ${options.join(' ')}`,
  );
}

function checkWorkers(look: TemporalLook, facts: TemporalFacts): Verdict {
  const verdict = verdictsOn('workers');
  const { taskQueue } = look;
  const { pollers, clock } = facts;
  if ('refusal' in pollers) {
    return verdict.warn(`The task queue could not be read: ${pollers.refusal.message}.`);
  }
  const now = 'value' in clock ? clock.value.at : look.now;
  const isPolled = (last: number): boolean => last > now - POLL_MS;
  const { runs, tools } = pollers.value;
  if (isPolled(runs) && isPolled(tools)) return verdict.ok(`They poll "${taskQueue}".`);
  if (isPolled(runs)) {
    return verdict.warn(
      `Workers poll "${taskQueue}", and none takes tool calls.`,
      'A worker that does may be busy or stopping; look at its log, and at TOOL_SLOTS.',
    );
  }
  return verdict.fail(
    `No worker polls the task queue "${taskQueue}": messages are accepted and not answered.`,
    'Start a worker (npm run start:worker) with the same TASK_QUEUE, TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.',
  );
}

function checkKeys({ keyIds }: TemporalLook, { payloadKeys }: TemporalFacts): Verdict {
  const verdict = verdictsOn('codec keys');
  const own =
    keyIds.length === 0
      ? 'Payloads are not encrypted (TEMPORAL_CODEC_KEYS is not set).'
      : `TEMPORAL_CODEC_KEYS encrypts with "${keyIds[0] ?? ''}".`;
  if ('refusal' in payloadKeys) return verdict.note(own);
  const fault = toKeysFault(keyIds, payloadKeys.value);
  return fault === undefined ? verdict.ok(own) : verdict.fail(fault.finding, fault.fix);
}
