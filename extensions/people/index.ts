import {
  defineRoute,
  requireRole,
  requireSecondOperator,
  type Call,
  type Route,
  sendLines,
  toActor,
} from '../../api/extension.js';
import type { Extension } from '../../extension.js';
import { PersonErasureReply, PersonPath } from '../../protocol/replies.js';
import { erasePerson } from './erase-person.js';
import { exportPerson } from './export-person.js';

/** Lets people and operators export and erase a person's data. */
export function people(): Extension {
  return { name: 'people', routes: [...PEOPLE_ROUTES, ...ME_ROUTES] };
}

const EXPORTED = {
  200: {
    description:
      'Conversations with rows, state, queue and files, then entries of the audit trail.',
    content: { lines: 'One JSON object a line.' },
  },
} as const;
const ERASED = {
  200: { description: 'What was erased.', content: { json: PersonErasureReply } },
  202: {
    description: 'The same, while something is left: send the request again.',
    content: { json: PersonErasureReply },
  },
} as const;

type Asked = Pick<Call<'caller', undefined, undefined, undefined>, 'deps' | 'response' | 'caller'> &
  Parameters<typeof toActor>[0];

async function send({ deps, response, caller }: Asked, owner: string): Promise<void> {
  await sendLines(response, exportPerson(deps, { owner, tenant: caller.tenantId }));
}

async function erase(call: Asked, owner: string): Promise<void> {
  const { deps, response, caller } = call;
  const erased = await erasePerson(deps, { owner, tenant: caller.tenantId }, toActor(call));
  response.status(erased.complete ? 200 : 202).json(erased satisfies PersonErasureReply);
}

const PEOPLE_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'delete',
    path: '/api/operator/users/:userId',
    id: 'erasePerson',
    audits: 'act',
    summary: 'Erase a person: all conversations, then the key of the pseudonym',
    params: PersonPath,
    replies: ERASED,
    refusals: ['not_allowed', 'second_person_required'],
    handle: async (call) => {
      const { deps, params, caller } = call;
      requireRole(caller, 'operator');
      const { userId: subject } = params;
      // An operator needs a second one to remove a colleague's name from the audit trail.
      if (await deps.stateStore.audit.hasActedOnOthers(caller.tenantId, subject)) {
        await requireSecondOperator(call, { action: 'forget', subject });
      }
      await erase(call, subject);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/operator/users/:userId/export',
    id: 'exportPerson',
    audits: 'read',
    summary: 'Export what is stored about a person as JSON lines',
    params: PersonPath,
    replies: EXPORTED,
    refusals: ['not_allowed'],
    entry: 'export',
    about: async ({ params, caller }) => {
      requireRole(caller, 'operator');
      return { person: params.userId };
    },
    handle: (call) => send(call, call.params.userId),
  }),
];

/** Routes for the caller's own data, which everyone may export and erase. */
const ME_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/me/export',
    id: 'exportMe',
    audits: 'read',
    summary: "Export the caller's conversations and entries of the audit trail as JSON lines",
    replies: EXPORTED,
    entry: 'export',
    about: async ({ caller }) => ({ person: caller.userId }),
    handle: (call) => send(call, call.caller.userId),
  }),
  defineRoute({
    method: 'delete',
    path: '/api/me',
    id: 'eraseMe',
    audits: 'act',
    summary: 'Erase the caller: all conversations, then the key of the pseudonym',
    replies: ERASED,
    handle: (call) => erase(call, call.caller.userId),
  }),
];
