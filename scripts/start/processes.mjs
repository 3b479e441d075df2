// Starts API and worker, waits for them, keeps them alive, and replaces them by newer ones.
import { randomUUID } from 'node:crypto';
import { UserError } from '../system/project.mjs';
import { startNodeProcess } from './node-process.mjs';
import { supervise } from './child-process.mjs';
import { waitUntil } from './reachable.mjs';

const READY_WITHIN_MS = 60_000;
// This many deaths before a process was ready mean a wrong setup.
const DEATHS_BEFORE_READY = 3;
// A worker finishes replies within this time and hands over the rest.
const DRAIN_MS = 120_000;
// A new API loads before the old one stops listening.
const LISTEN_WITHIN = '30';

/**
 * @param options.context `fleet`, `signal`, `say`, and `announceDeath` for a process that was ready
 * @param options.launch `cwd`, `nodeOptions` and `withholdsKeys` of the processes
 */
export function createProcesses({ env, url, launch, context }) {
  const { fleet, signal, say, announceDeath } = context;
  const current = {};

  function begin(role, { deaths = DEATHS_BEFORE_READY, variables = {} } = {}) {
    const begun = { loaded: false, ready: false, failure: undefined };
    const onDeath = (death) => {
      if (!begun.loaded && !begun.ready && death.quickDeaths >= deaths) {
        begun.failure = new UserError(`The ${role} does not start: it ended with ${death.reason}.`);
        return false;
      }
      return announceDeath(role, death);
    };
    // A worker's successor of the same generation takes over its lease; one that replaces a living worker
    // must not.
    const nextLease = role === 'worker' ? createLeaseNames() : () => ({});
    const onMessage = (state) => (begun[state] = true);
    const start = () =>
      startNodeProcess(
        role,
        { ...env, ...variables, ...nextLease() },
        { write: say, onMessage, ...launch },
      );
    begun.member = supervise(start, { onDeath });
    fleet.add(begun.member);
    return begun;
  }

  async function untilReady(begun, isReady) {
    const ready = await waitUntil(
      () => {
        for (const { failure } of begun) if (failure) throw failure;
        return isReady();
      },
      { withinMs: READY_WITHIN_MS, everyMs: 50, signal },
    );
    if (!ready) throw new UserError(`The product is not ready after a minute: see ${url}/readyz.`);
  }

  return {
    async start() {
      for (const role of ['worker', 'api']) {
        signal.throwIfAborted();
        current[role] = begin(role);
      }
      await untilReady(Object.values(current), () => answersOk(`${url}/readyz`));
      for (const each of Object.values(current)) each.ready = true;
    },
    /**
     * Replaces the running processes: the new worker takes work before the old one stops and drains. If one
     * does not start, everything stays as it was.
     */
    async replace() {
      const worker = begin('worker', { deaths: 1 });
      await orDrop(worker, () => worker.ready);
      const api = begin('api', { deaths: 1, variables: { LISTEN_WITHIN } });
      try {
        await orDrop(api, () => api.loaded);
      } catch (error) {
        await retire(worker.member, { graceMs: DRAIN_MS });
        throw error;
      }
      void retire(current.worker.member, { graceMs: DRAIN_MS });
      current.worker = worker;
      const former = current.api.member;
      current.api = api;
      await Promise.all([retire(former), untilReady([api], () => api.ready)]);
    },
  };

  async function orDrop(begun, isReady) {
    try {
      await untilReady([begun], isReady);
    } catch (error) {
      fleet.remove(begun.member);
      await begun.member.stop();
      throw error;
    }
  }

  /** The member stays in the fleet until it is gone, so that a stop reaches it too. */
  async function retire(member, options) {
    await member.stop(options);
    fleet.remove(member);
  }
}

async function answersOk(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/**
 * Names each worker's lease and that of its ended predecessor, so that the successor takes over its work
 * immediately.
 */
export function createLeaseNames(newName = randomUUID) {
  let former;
  return () => {
    const env = { LEASE_ID: newName(), ...(former && { ENDED_LEASE_ID: former }) };
    former = env.LEASE_ID;
    return env;
  };
}
