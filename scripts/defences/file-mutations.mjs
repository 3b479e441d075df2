// Defences of files that messages name by reference.
const API = 'test/api/files.test.ts';
const MADE = 'test/activities/made-files.test.ts';
const REGENERATED =
  'files that a model makes of a reply that was regenerated are removed, and those that a message names are not';
const OF_SUB_AGENTS = 'test/in-process/dropped-files.test.ts';
const CALLED =
  'files that sub-agents make are removed with the reply that called them, at every depth';
const ELSEWHERE = 'test/stores/memory/files-elsewhere.test.ts';
const OWN_STORE = 'bytes of files in a store of their own';
const MEMORY = 'test/stores/conformance/memory.test.ts';
const SERVED =
  'a file is served to its owner before and after the first message, and not to others';

export const files = [
  {
    defence: 'Files that models make: those of a reply that was discarded are removed',
    file: 'activities/model/step-tries.ts',
    edits: [['      await made.clear();\n', '']],
    suite: MADE,
    test: 'files that a model makes of a reply that its provider broke off are removed',
  },
  {
    defence: 'Files that models make: the next attempt removes those of a lost one',
    file: 'activities/model/step-tries.ts',
    edits: [['    if (attempt.number > 1) await made.clear();\n', '']],
    suite: MADE,
    test: 'files that a model makes of an attempt that was lost are removed by the next one',
  },
  {
    defence: 'Files that models make: an attempt that was replaced removes none of its successor',
    file: 'activities/model/made-files.ts',
    edits: [[' && Number(madeBy.slice(ofStep.length)) <= token', '']],
    suite: MADE,
    test: 'files that a model makes of a reply that a later attempt has stored stay when a replaced one clears up',
  },
  {
    defence: 'Files that models make: those of a reply that was regenerated are removed',
    file: 'activities/model/step-tries.ts',
    edits: [['    if (claim.hasDroppedCalls === true) await made.clearDropped(stored);\n', '']],
    suite: MADE,
    test: REGENERATED,
  },
  {
    defence: 'Files that models make: those of sub-agents go with the reply that called them',
    file: 'activities/model/dropped-files.ts',
    edits: [[' && !rows.some((row) => hasCall(row, parent.toolCallId))', ' && rows.length === 0']],
    suite: OF_SUB_AGENTS,
    test: CALLED,
  },
  {
    defence: 'Files that models make: those of sub-agents whose call is kept stay',
    file: 'activities/model/dropped-files.ts',
    edits: [[' && !rows.some((row) => hasCall(row, parent.toolCallId))', '']],
    suite: OF_SUB_AGENTS,
    test: CALLED,
  },
  {
    defence: 'Files that models make: those of sub-agents of sub-agents go, too',
    file: 'activities/model/dropped-files.ts',
    edits: [['return isOfDroppedCall(parent.sessionId);', 'return false;']],
    suite: OF_SUB_AGENTS,
    test: CALLED,
  },
  {
    defence: 'Files that models make: those that a message names stay',
    file: 'activities/model/dropped-files.ts',
    edits: [[' || isNamed(id)', '']],
    suite: MADE,
    test: REGENERATED,
  },
  {
    defence: 'Files that models make: one that is refused does not end the reply',
    file: 'activities/model/made-files.ts',
    edits: [['        return { error: cause.message, code: cause.code };', '        throw cause;']],
    suite: MADE,
    test: 'files that a model makes beyond what their owner may have are not kept, and the reply is',
  },
  {
    defence: 'Files that models make: the provider gets its mark on them back',
    file: 'activities/model/prompt.ts',
    edits: [["made.type === 'file' ? { ...made, ...toOptions(part) } : made", 'made']],
    suite: 'test/e2e/made-files.test.ts',
    test: 'a large file that a model makes ai 7: is served, stays after a reload and goes back',
  },
  {
    defence: 'Files: one is served to its owner only, also before the conversation exists',
    file: 'api/routes/files.ts',
    edits: [['file === undefined || !isOwner(file, caller)', 'file === undefined']],
    suite: API,
    test: SERVED,
  },
  {
    defence: 'Files: those of another user go when the conversation begins',
    file: 'stores/transitions/lib/expiry.ts',
    edits: [['whose === filesOwner(owner, tenant)', 'true']],
    suite: API,
    test: 'a file that another user added before the conversation existed is gone once it does',
  },
  {
    defence: 'Files: a browser runs nothing of them',
    file: 'api/files/serve-file.ts',
    edits: [["    'content-security-policy': \"default-src 'none'; sandbox\",\n", '']],
    suite: API,
    test: SERVED,
  },
  {
    defence: 'Files: bytes that are not of the type they are sent as are refused',
    file: 'api/files/read-upload.ts',
    edits: [['if (!mayBeOfType(content, mediaType))', 'if (false)']],
    suite: API,
    test: 'what is refused a file that is too large, empty, or of another type',
  },
  {
    defence: 'Files: they count for their owner',
    file: 'executor/uploads.ts',
    edits: [["    if (reserved.kind === 'exceeded') throw quotaExceeded(reserved);\n", '']],
    suite: API,
    test: 'what is refused more than the owner may have',
  },
  {
    defence: 'Files: the bytes of an erased conversation are removed',
    file: 'executor/erase.ts',
    edits: [['await files?.forget(sessionId, fileId);', 'void fileId;']],
    suite: API,
    test: 'a file is erased with its conversation, and copied with a branch',
  },
  {
    defence: 'Files: a conversation has no more than its limits allow',
    file: 'stores/transitions/add-file.ts',
    edits: [["  if (files > limits.files) return exceeded('files', limits.files);\n", '']],
    suite: MEMORY,
    test: 'files of a conversation files that were added at once stay within the limits',
  },
  {
    defence: 'Files: the creator of a conversation gets no file of another user',
    file: 'stores/transitions/add-file.ts',
    edits: [["    redis.call('UNLINK', session.files, session.fileBytes);\n", '']],
    suite: MEMORY,
    test: 'files of a conversation the creator of the conversation keeps nothing of another user’s',
  },
  {
    defence: 'Files: a redirect leads to hosts of the list only',
    file: 'activities/model/fetch-file.ts',
    edits: [
      [
        "      if (!isFetched(url, hosts)) throw new FileRefusedError('its host is not in the list');\n",
        '',
      ],
    ],
    suite: 'test/activities/fetch-file.test.ts',
    test: 'a file by its https address is not fetched after a redirect to another host',
  },
  {
    defence: 'Files: one of another host has a bounded size',
    file: 'activities/model/fetch-file.ts',
    edits: [['if (bytes > LIMITS.fileBytes) {', 'if (bytes < 0) {']],
    suite: 'test/activities/fetch-file.test.ts',
    test: 'a file by its https address is refused if it is too large, missing, or led on without end',
  },
  {
    defence: 'Files: the sweep removes bytes elsewhere whose file is gone',
    file: 'executor/sweep.ts',
    edits: [['await files?.reclaim?.(sessionId)', 'undefined as number | undefined']],
    suite: ELSEWHERE,
    test: `${OWN_STORE} what no conversation claims is removed there by the sweep, a day after the last one`,
  },
  {
    defence: 'Files: the sweep looks after a conversation that does not exist but has files',
    file: 'executor/uploads.ts',
    edits: [['await due.noteLater(rootOf(sessionId), LIMITS.unclaimedFilesMs);', 'void due;']],
    suite: ELSEWHERE,
    test: `${OWN_STORE} a store that is away is asked again by the next sweep`,
  },
  {
    defence: 'Files: the sweep comes back when the files of a conversation expire',
    file: 'stores/redis/reclaim-files.ts',
    edits: [['names.size === 0 ? -1', 'names.size > 0 ? -1']],
    suite: ELSEWHERE,
    test: `${OWN_STORE} what a conversation has claimed stays, and goes when the conversation expires`,
  },
  {
    defence: 'Files: bytes elsewhere that an upload writes late are removed',
    file: 'stores/redis/reclaim-files.ts',
    edits: [['if (leftMs <= 0)', 'if (leftMs <= Infinity)']],
    suite: ELSEWHERE,
    test: `${OWN_STORE} bytes that are written after their conversation was erased are removed once more`,
  },
  {
    defence: 'Files: an executor without Temporal fetches files of listed hosts itself',
    file: 'in-process/create-executor.ts',
    edits: [['meter, logger, mcp, fileHosts }', 'meter, logger, mcp }']],
    suite: 'test/in-process/file-hosts.test.ts',
    test: 'files of listed hosts are fetched as by the worker: one that is refused is named to the model',
  },
];
