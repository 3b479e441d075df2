/** What the test files of this process share, and close when the last of them has ended. */
exports.endings = [];
