import { sessionsBelow } from '../../session/pause.js';
import type { Call, SessionRecord as StoredRecord } from '../../session/record.js';
import { ofCall } from '../../session/settling.js';
import type { Session } from '../../session/tree.js';
import type { CustomState } from '../contract/custom-state.js';
import type { StagedChanges, StateRead } from '../contract/staging.js';
import { parseStored } from './stored-json.js';

/** The agent's own state and its staged changes, as stored. */
export interface StateTexts {
  version: number;
  /** Empty before the state is first saved. */
  state: string;
  staged: { stepId: string; n: number; changes: string }[];
}

export function stateTexts({ existing, content }: Session): StateTexts {
  const { version, staged } = existing.state;
  return {
    version,
    state: version === 0 ? '' : (content.get(`v:${String(version)}`) ?? ''),
    staged: staged.map(({ step, call, n }) => ({
      stepId: step,
      n,
      changes: content.get(`s:${step}/${call}`) ?? '{}',
    })),
  };
}

/** In the order in which the changes were staged. */
export function toStateRead({ version, state, staged }: StateTexts): StateRead {
  return {
    version,
    customState: state === '' ? {} : (parseStored(state, 'state') as CustomState),
    staged: staged
      .map(({ changes, ...each }) => ({
        ...(parseStored(changes, 'staged changes') as StagedChanges),
        ...each,
      }))
      .sort((a, b) => a.n - b.n),
  };
}

/** A call with its texts. */
export interface CallTexts {
  call: Call;
  spec: string;
  row: string | undefined;
  decision: string | undefined;
  edit: string | undefined;
}

export function callTexts(session: Session, call: Call): CallTexts {
  return {
    call,
    spec: session.content.get(ofCall('spec', call.id)) ?? '{}',
    row: call.state === 'settled' ? session.content.get(ofCall('row', call.id)) : undefined,
    decision:
      call.hasDecision === true ? session.content.get(ofCall('decision', call.id)) : undefined,
    edit: call.edits === undefined ? undefined : session.content.get(ofCall('edit', call.id)),
  };
}

/** A session at one moment; texts are JSON. */
export interface SessionTexts {
  id: string;
  record: StoredRecord;
  sequence: number;
  /** When the newest entry came. */
  appended: number;
  stream: StoredRecord['stream'];
  conversation: StoredRecord;
  output: string | undefined;
}

export function sessionTexts(session: Session): SessionTexts | undefined {
  const { record, tree } = session;
  if (record?.agent === undefined) return undefined;
  const conversation = tree.conversation.existing;
  const { outputRef } = record.run;
  return {
    id: session.id,
    record,
    sequence: tree.log.sequence,
    appended: tree.conversation.appended,
    stream: conversation.stream,
    conversation,
    output: outputRef === undefined ? undefined : tree.conversation.results.get(outputRef),
  };
}

export interface ViewTexts extends SessionTexts {
  /** Its rows are read apart, since they may be many. */
  rowCount: number;
  queue: { entry: StoredRecord['queue'][number]; rows: string[] }[];
  calls: CallTexts[];
}

/**
 * A session with its calls and those of its sub-agents.
 *
 * @param owner of whom alone calls and transcript are read
 */
export function viewTexts(
  session: Session,
  {
    callsOnly,
    owner,
  }: { callsOnly: boolean; owner?: { owner: string; tenant?: string } | undefined },
): ViewTexts | undefined {
  const own = sessionTexts(session);
  if (own === undefined) return undefined;
  const { record } = own;
  // How long a read takes tells a stranger how much there is.
  if (
    owner !== undefined &&
    (record.owner !== owner.owner || record.tenant !== (owner.tenant ?? ''))
  ) {
    return { ...own, rowCount: 0, queue: [], calls: [] };
  }
  return {
    ...own,
    rowCount: callsOnly ? 0 : session.rows.count,
    queue: callsOnly
      ? []
      : record.queue.map((entry) => ({
          entry,
          rows: entry.messages.map(({ id }) => session.content.get(`q:${id}`) ?? ''),
        })),
    calls: sessionsBelow(session).flatMap(({ session: found, calls }) =>
      calls.map((call) => callTexts(found, call)),
    ),
  };
}
