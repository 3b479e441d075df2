/** Resources that this process's test files share; they close after the last file. */
exports.endings = [];
