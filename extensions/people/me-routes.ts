import { defineRoute, type Route, sendLines, toActor } from '../../api/extension.js';
import { PersonErasureReply } from '../../protocol/erasure.js';
import { exportPerson } from './export-person.js';
import { erasePerson } from './erase-person.js';

/** What is stored about the caller: everyone may take it along, and erase it. */
export const ME_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/me/export',
    id: 'exportMe',
    audits: 'read',
    summary: "Export the caller's conversations and entries of the audit trail as JSON lines",
    replies: {
      200: {
        description:
          'Conversations with rows, state, queue and files, then entries of the audit trail.',
        content: { lines: 'One JSON object a line.' },
      },
    },
    entry: 'export',
    about: async ({ caller }) => ({ person: caller.userId }),
    handle: async ({ deps, response, caller }) => {
      const who = { owner: caller.userId, tenant: caller.tenantId };
      await sendLines(response, exportPerson(deps, who));
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/api/me',
    id: 'eraseMe',
    audits: 'act',
    summary: 'Erase the caller: all conversations, then the key of the pseudonym',
    replies: {
      200: { description: 'What was erased.', content: { json: PersonErasureReply } },
      202: {
        description: 'The same, while something is left: send the request again.',
        content: { json: PersonErasureReply },
      },
    },
    handle: async (call) => {
      const { deps, response, caller } = call;
      const who = { owner: caller.userId, tenant: caller.tenantId };
      const erased = await erasePerson(deps, who, toActor(call));
      response.status(erased.complete ? 200 : 202).json(erased satisfies PersonErasureReply);
    },
  }),
];
