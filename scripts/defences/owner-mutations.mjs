// Defences of the API: whose sessions a caller sees.
const OWNERS = 'test/api/ownership.test.ts';
const SNAPSHOTS = 'test/ai-sdk/reply/build-snapshot.test.ts';
const STRANGER = 'a stranger learns nothing and changes nothing';
const NAMESAKE = 'the same name in another tenant learns nothing and changes nothing';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const owners = [
  {
    defence: 'Owners: a name counts within its tenant',
    file: 'ai-sdk/reply/access.ts',
    edits: without(" && (session.tenant ?? '') === (caller.tenantId ?? '')"),
    suite: OWNERS,
    test: 'a session of before: stopChat the same name in none learns nothing and changes nothing',
  },
  {
    defence: 'Owners: tenants do not share the ids of their sessions',
    file: 'stores/record/stored-session-id.ts',
    edits: [
      [
        "if (tenantId === undefined || tenantId === '') return sessionId;",
        'if (tenantId !== null) return sessionId;',
      ],
    ],
    suite: OWNERS,
    test: 'sessions of tenants tenants do not share session ids, and replies show the ids that clients chose',
  },
  {
    defence: 'Owners: a session of before is no other tenant’s',
    file: 'stores/record/locate-session.ts',
    edits: [
      ['if (bare.found?.record.tenant === tenantId) return bare;', 'if (bare.found) return bare;'],
    ],
    suite: OWNERS,
    test: `a session of before: startAgent ${NAMESAKE}`,
  },
  {
    defence: 'Owners: tenants begin no session that an active release 0.2.0 would not find',
    file: 'stores/redis/session-store.ts',
    edits: [['(await context.layout()) >= TENANTS_APART', 'true']],
    suite: 'test/stores/redis/processes.test.ts',
    test: 'while a process of layout 1 lives tenants do not begin sessions under ids that it would not find',
  },
  {
    defence: 'Owners: nor does the edge',
    file: 'stores/record/locate-session.ts',
    edits: [['(await sessions.tenantsApart()) ? { storedId } : bare', '{ storedId }']],
    suite: OWNERS,
    test: 'sessions of tenants sessions are stored as release 0.2.0 finds them while its processes may run',
  },
  {
    defence: 'Owners: actions on another person’s session are refused',
    file: 'ai-sdk/reply/access.ts',
    edits: [['return isOwner(record, caller) ? record : undefined;', 'return record;']],
    suite: OWNERS,
    test: `a session of today: deleteChat ${STRANGER}`,
  },
  {
    defence: 'Owners: another person’s session cannot be followed',
    file: 'ai-sdk/reply/classify.ts',
    edits: [
      [
        "return session?.isOwn === true\n      ? { kind: 'attach'",
        "return session !== undefined ? { kind: 'attach'",
      ],
    ],
    suite: OWNERS,
    test: `a session of today: followChat ${STRANGER}`,
  },
  {
    defence: 'Owners: another person’s session cannot be loaded',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [
      [
        'there are.\n  const record = await findOwnSession(stateStore, sessionId, caller);',
        '\n  const { record } = await findSession(stateStore, sessionId, caller);',
      ],
      ['import { findOwnSession, isOwner', 'import { findSession, isOwner'],
      [
        'if (view === undefined || !isOwner(view.record, caller)) return undefined;',
        'if (!view) return;',
      ],
    ],
    suite: OWNERS,
    test: `a session of today: getSnapshot ${STRANGER}`,
  },
  {
    defence: 'Owners: nor does anybody learn from how long it takes how much there is',
    file: 'ai-sdk/reply/build-snapshot.ts',
    edits: [
      [
        'there are.\n  const record = await findOwnSession(stateStore, sessionId, caller);',
        '\n  const { record } = await findSession(stateStore, sessionId, caller);',
      ],
      ['import { findOwnSession, isOwner', 'import { findSession, isOwner'],
    ],
    suite: SNAPSHOTS,
    test: "buildSnapshot buildSnapshot reads nothing of other people's sessions",
  },
  {
    defence: 'Owners: a missing caller owns nothing',
    file: 'ai-sdk/reply/access.ts',
    edits: [
      [
        'if (session === undefined || !caller?.userId) return false;',
        'if (session === undefined) return false; if (!caller?.userId) return true;',
      ],
    ],
    suite: SNAPSHOTS,
    test: 'buildSnapshot buildSnapshot returns null without a caller, which JavaScript hosts may omit',
  },
  {
    defence: 'Owners: a route of owners loads the session of its caller only',
    file: 'api/session-access.ts',
    edits: [
      [
        'const record = await readOwned(store, sessionId, caller);',
        'const record = (await findSession(store, sessionId, caller)).record as SessionRecord;',
      ],
      ['import { readOwned,', 'import { findSession,'],
    ],
    suite: OWNERS,
    test: `a session of today: getQueue ${STRANGER}`,
  },
];
