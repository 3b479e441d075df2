import {
  defineRoute,
  requireRole,
  requireSecondOperator,
  type Route,
  sendLines,
  toActor,
} from '../../api/extension.js';
import { exportPerson } from './export-person.js';
import { erasePerson } from './erase-person.js';
import { PersonErasureReply, PersonPath } from '../../protocol/erasure.js';

const person = { params: PersonPath, refusals: ['not_allowed'] } as const;

/** What is stored about a person of the caller's tenant. */
export const PEOPLE_ROUTES: readonly Route[] = [
  defineRoute({
    ...person,
    method: 'delete',
    path: '/api/operator/users/:userId',
    id: 'erasePerson',
    audits: 'act',
    summary: 'Erase a person: all conversations, then the key of the pseudonym',
    replies: {
      200: { description: 'What was erased.', content: { json: PersonErasureReply } },
      202: {
        description: 'The same, while something is left: send the request again.',
        content: { json: PersonErasureReply },
      },
    },
    refusals: ['not_allowed', 'second_person_required'],
    handle: async (call) => {
      const { deps, response, params, caller } = call;
      requireRole(caller, 'operator');
      const { userId: subject } = params;
      const { tenantId: tenant } = caller;
      // Nobody alone takes the name of a colleague out of the trail.
      if (await deps.stateStore.audit.hasActedOnOthers(tenant, subject)) {
        await requireSecondOperator(call, { action: 'forget', subject });
      }
      const who = { owner: subject, tenant };
      const erased = await erasePerson(deps, who, toActor(call));
      response.status(erased.complete ? 200 : 202).json(erased satisfies PersonErasureReply);
    },
  }),
  defineRoute({
    ...person,
    method: 'get',
    path: '/api/operator/users/:userId/export',
    id: 'exportPerson',
    audits: 'read',
    summary: 'Export what is stored about a person as JSON lines',
    replies: {
      200: {
        description:
          'Conversations with rows, state, queue and files, then entries of the audit trail.',
        content: { lines: 'One JSON object a line.' },
      },
    },
    entry: 'export',
    about: async ({ params, caller }) => {
      requireRole(caller, 'operator');
      return { person: params.userId };
    },
    handle: async ({ deps, response, params, caller }) => {
      const who = { owner: params.userId, tenant: caller.tenantId };
      await sendLines(response, exportPerson(deps, who));
    },
  }),
];
