import { UserError } from './user-error.mjs';

const WHY = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'its file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of this user is used up',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file of that name is there',
};

/** Resolves to what the work does; a file or folder that cannot be used is a sentence. @throws UserError */
export async function withFileFaults(work) {
  try {
    return await work();
  } catch (error) {
    const { code, path, syscall = '' } = error ?? {};
    const isMissing = code === 'ENOENT' && syscall === 'mkdir';
    const why = isMissing ? 'nothing can be made there' : WHY[code];
    if (path === undefined || why === undefined || syscall.startsWith('spawn')) throw error;
    throw new UserError(
      `${path} cannot be used: ${why} (${code}). Conversations are kept in DATA_DIR, programs in ` +
        'XDG_CACHE_HOME (default: ~/.cache), claims of ports in TMPDIR: choose another folder, or free this one.',
      { cause: error },
    );
  }
}
