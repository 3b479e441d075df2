// The defences of messages that wait; see mutations.mjs.
const TRANSITIONS = 'stores/transitions';

export const queue = [
  {
    defence: 'What waits is not overtaken',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['if ((isActive && !abandons) || waiting > 0) {', 'if (isActive && !abandons) {']],
    test: 'queue queued messages are not overtaken: a new one is queued or refused',
  },
  {
    defence: 'What waits goes before a message that abandons a question',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["if (waiting > 0 && policy !== 'interrupt') {", 'if (false) {']],
    test: 'queue queued messages come before a message that abandons a question',
  },
  {
    defence: 'A queue has its bound',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [["    if (waiting >= request.mostQueued) return only('queue_full');\n", '']],
    test: 'queue the number of entries is limited',
  },
  {
    defence: 'A queued message is accepted once',
    file: `${TRANSITIONS}/begin.ts`,
    edits: [['  accept(session, fresh);\n', '']],
    test: 'queue a message is accepted once, however it waits',
  },
  {
    defence: 'One run per session, also from the queue',
    file: `${TRANSITIONS}/begin-queued.ts`,
    edits: [["  if (isLive(root.status)) return only('busy');\n", '']],
    test: 'queue a queued run starts once per nonce, and for one of many concurrent requests',
  },
  {
    defence: 'A queued run is begun once for one nonce',
    file: `${TRANSITIONS}/begin-queued.ts`,
    edits: [['if (isRunOf(root.run, nonce)) {', 'if (false) {']],
    test: 'queue a queued run starts once per nonce, and for one of many concurrent requests',
  },
  {
    defence: 'An edit changes what was read',
    file: `${TRANSITIONS}/edit-queued.ts`,
    edits: [["      if (message.hash !== expectedHash) return only('stale');\n", '']],
    test: 'queue an edited message is answered in its new form',
  },
  {
    defence: 'A removed message can be sent again',
    file: `${TRANSITIONS}/remove-queued.ts`,
    edits: [["    redis.call('HDEL', session.messages, ...ids);\n", '']],
    test: 'queue a removed message is forgotten and can be sent again',
  },
  {
    defence: 'Steering at the last moment is not lost',
    file: `${TRANSITIONS}/commit.ts`,
    edits: [["request.status === 'completed' && steeringWaits(session)", 'false']],
    test: 'steer a steering message gives a run that would end another step',
  },
  {
    defence: 'Steering waits for a reply that it can close',
    file: `${TRANSITIONS}/lib/queue.ts`,
    edits: [['root.replied !== root.turn || ', '']],
    test: 'steer a steering message waits until the current reply has begun',
  },
  {
    defence: 'Steering that came too late is queued',
    file: `${TRANSITIONS}/lib/finish.ts`,
    edits: [['  queueSteering(session);\n', '']],
    test: 'steer steering messages of a run that fails or is stopped are queued before others',
  },
];
