/**
 * SHA-256 of the archives of the release, by version and system: the list `checksums.txt` that the
 * release was published with. A change of TEMPORAL_CLI_VERSION needs the new list from there.
 */
export const ARCHIVE_CHECKSUMS = {
  '1.8.2': {
    'darwin-arm64': 'dacdc3587682c04cf27e67c8878ca2d755230b6ad63c0c6ebddd7348ae90ed94',
    'darwin-x64': '489d7f5420cae02b559774ac23df035141954c33a51dba96f5759a0ddccdf1b6',
    'linux-arm64': '83600a8fac6e3da54093e5da6918d399f501532b9f1172235603f9606f4ac6e4',
    'linux-x64': 'd8421bda989e6514b4bdb4d63a9012a8a05a806892e881a5aad8510496349a94',
  },
};
