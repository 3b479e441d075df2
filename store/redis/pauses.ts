import type { HeldRun, Pause, PausedAgent, Pauses } from '../contract/pauses.js';
import { parseStored } from '../record/stored-json.js';
import type { RedisContext } from './context.js';
import { toKeyPart } from './keys.js';
import { lowest } from './scored-list.js';

type Context = Pick<RedisContext, 'redis' | 'keys' | 'writeIf'>;

/** Names the list of held runs of one agent in one tenant. */
type ListName = Pick<HeldRun, 'agent' | 'tenant'>;

export function createPauses(context: Context, fleet = ''): Pauses {
  const { redis, keys, writeIf } = context;
  const at = keys.pauses(fleet);

  async function isPaused({ agent, tenant }: ListName): Promise<boolean> {
    const fields = [true, false].map((everywhere) => fieldOf({ agent, tenant, everywhere }));
    const found = await redis.hmget(at.paused, ...fields);
    return found.some((each) => each !== null);
  }

  async function lists(): Promise<{ of: ListName; key: string }[]> {
    const names = await redis.hkeys(at.lists);
    return names.map((name) => ({ of: parseName(name), key: at.held(name) }));
  }

  return {
    of: (other) => createPauses(context, other),
    set: async ({ agent, tenant, everywhere, ...about }) => {
      const field = fieldOf({ agent, tenant, everywhere });
      return (await redis.hsetnx(at.paused, field, JSON.stringify(about))) === 1;
    },
    clear: async (scope) => (await redis.hdel(at.paused, fieldOf(scope))) === 1,
    list: async () => {
      const found = await redis.hgetall(at.paused);
      return Object.entries(found).map(([field, about]) => ({
        ...parseName(field),
        everywhere: field.startsWith('*'),
        ...(parseStored(about, 'pause') as Omit<Pause, keyof PausedAgent>),
      }));
    },
    hold: async ({ runId, startedAt, ...of }) => {
      if (!(await isPaused(of))) return false;
      const name = nameOf(of);
      // A held run on an unregistered list would never be released.
      await writeIf(
        [],
        [
          ['ZADD', at.held(name), 'NX', startedAt, runId],
          ['HSET', at.lists, name, '1'],
        ],
      );
      return true;
    },
    postpone: async ({ runId, ...of }, until) => {
      await redis.zadd(at.held(nameOf(of)), 'XX', until, runId);
    },
    isHeld: async ({ runId, ...of }) => (await redis.zscore(at.held(nameOf(of)), runId)) !== null,
    released: async (max) => {
      const found: HeldRun[] = [];
      const now = Date.now();
      for (const { of, key } of await lists()) {
        if (await isPaused(of)) continue;
        const oldest = await lowest(redis, key, now, max);
        found.push(
          ...oldest.map(({ member, score }) => ({ ...of, runId: member, startedAt: score })),
        );
      }
      return found.sort((a, b) => a.startedAt - b.startedAt).slice(0, max);
    },
    drop: async ({ runId, ...of }) => {
      const name = nameOf(of);
      const key = at.held(name);
      await redis.zrem(key, runId);
      if ((await redis.zcard(key)) > 0) return;
      await redis.hdel(at.lists, name);
      // A run held in between would be forgotten.
      if ((await redis.zcard(key)) > 0) await redis.hset(at.lists, name, '1');
    },
    held: async () => {
      const counted = (await lists()).map(async ({ of, key }) => ({
        ...of,
        count: await redis.zcard(key),
      }));
      return (await Promise.all(counted)).filter(({ count }) => count > 0);
    },
  };
}

/** Returns `*:<agent>` or `t<tenant>:<agent>`. */
function fieldOf({ agent, tenant, everywhere }: PausedAgent): string {
  return everywhere ? `*:${toKeyPart(agent)}` : nameOf({ agent, tenant });
}

function nameOf({ agent, tenant = '' }: ListName): string {
  return `t${toKeyPart(tenant)}:${toKeyPart(agent)}`;
}

function parseName(name: string): ListName {
  const [whose = '', agent = ''] = name.split(':');
  const tenant = decodeURIComponent(whose.slice(1));
  return { agent: decodeURIComponent(agent), ...(tenant !== '' && { tenant }) };
}
