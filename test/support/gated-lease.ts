import type { Held } from '../../activities/lease.js';
import type { HeldWork } from '../../store/contract/leases.js';
import { createLease, type BegunLease } from '../../extensions/leases/lease-worker.js';
import { createFlags } from './gated-agent.js';
import type { TestStores } from './test-stores.js';

/** A worker's lease under which the test decides when attempts are registered. */
export interface RegistrationGate {
  lease: BegunLease;
  /** The attempts of a conversation, numbered from 1 in the order in which the worker gets them. */
  hold: (sessionId: string, which: readonly number[]) => HeldAttempts;
}

export interface HeldAttempts {
  /** Resolves when the worker has got this one. */
  reached: (nth: number) => Promise<void>;
  /** Lets it be registered; resolves when its work is over. */
  release: (nth: number) => Promise<void>;
}

export function gateRegistration({ store, unansweredMs }: TestStores): RegistrationGate {
  const { leases } = store;
  if (leases === undefined) throw new Error('the stores have no leases');
  const logger = { info: () => undefined, warn: () => undefined };
  const begun = createLease({ leases, namespace: 'default', unansweredMs, logger });
  const flags = createFlags();
  const sessions = new Map<string, { which: readonly number[]; count: number }>();

  /** The name of its gate; undefined for an attempt that is registered at once. */
  function gateOf({ workflowId }: HeldWork): string | undefined {
    const [id, session] = [...sessions].find(([each]) => workflowId.includes(each)) ?? [];
    if (session === undefined) return undefined;
    session.count += 1;
    return session.which.includes(session.count)
      ? `${String(id)} ${String(session.count)}`
      : undefined;
  }

  function hold(work: HeldWork): Held {
    const gate = gateOf(work);
    if (gate === undefined) return begun.lease.hold(work);
    flags.raise(`${gate} is reached`);
    const held = flags.raised(`${gate} is released`).then(() => begun.lease.hold(work));
    return {
      registered: held.then(({ registered }) => registered),
      becomePatient: async () => (await held).becomePatient(),
      executing: () => () => undefined,
      note: () => undefined,
      release: () => {
        void held.then(({ release }) => {
          release();
        });
        flags.raise(`${gate} is over`);
      },
    };
  }

  return {
    lease: { ...begun, lease: { ...begun.lease, hold } },
    hold: (sessionId, which) => {
      sessions.set(sessionId, { which, count: 0 });
      const nameOf = (nth: number, what: string): string =>
        `${sessionId} ${String(nth)} is ${what}`;
      return {
        reached: (nth) => flags.raised(nameOf(nth, 'reached')),
        release: (nth) => {
          flags.raise(nameOf(nth, 'released'));
          return flags.raised(nameOf(nth, 'over'));
        },
      };
    },
  };
}
