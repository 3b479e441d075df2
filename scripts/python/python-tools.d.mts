// The types of python-tools.mjs, for the tests.

export interface PythonTools {
  python: string;
  /** Folder of the tools' programs. */
  bin: string;
  /** Folder with the packages of tools and client as files. */
  wheels: string;
}

export function providePythonTools(env?: NodeJS.ProcessEnv): Promise<PythonTools>;

export function run(file: string, args: string[], options?: object): Promise<void>;
