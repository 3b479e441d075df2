import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only.',
};
const NO_EXPORT_ALL = { selector: 'ExportAllDeclaration', message: 'Name what is exported.' };
const NO_ENUM = { selector: 'TSEnumDeclaration', message: 'Use a union of literals.' };
const NO_ENVIRONMENT = {
  selector: 'MemberExpression[object.name="process"][property.name="env"]',
  message: 'Only main.ts files read the environment.',
};

export default tseslint.config(
  {
    // Projects of their own, with packages of their own.
    ignores: [
      ...['dist/', 'node_modules/', '.data/', 'coverage/', 'examples/next/'],
      ...['examples/vue/', 'examples/svelte/', 'examples/assistant-ui/', 'examples/ai-elements/'],
      ...[
        'bench/peers/programs/',
        'templates/app/',
        'create/templates/',
        'site/dist/',
        'site/.data/',
      ],
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // A name that begins with "_" says that it is not needed.
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // getState<State>() is how the Helix API lets callers say what they expect.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/require-await': 'off',
      // The classes of the Helix packages take their methods from factories.
      '@typescript-eslint/no-extraneous-class': ['error', { allowConstructorOnly: true }],
      // Records of Redis fields and HTTP headers are read by name.
      '@typescript-eslint/dot-notation': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', 300],
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, NO_EXPORT_ALL, NO_ENUM, NO_ENVIRONMENT],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    rules: { 'max-lines': ['error', 300] },
  },
  {
    files: ['**/main.ts', 'test/**', 'bench/**'],
    rules: {
      'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT, NO_EXPORT_ALL, NO_ENUM],
    },
  },
  {
    files: ['bench/**'],
    rules: { 'no-console': 'off' },
  },
  {
    // Runs as Lua as well, where 0 and '' count as true, and lists have no holes.
    files: ['stores/transitions/**'],
    rules: {
      '@typescript-eslint/strict-boolean-expressions': [
        'error',
        { allowString: false, allowNumber: false, allowNullableObject: false },
      ],
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
    },
  },
  {
    // Runs in Temporal's sandbox: nothing of Node, nothing that is not deterministic.
    files: ['workflows/**'],
    rules: {
      'no-restricted-imports': ['error', { patterns: ['node:*', 'zod', 'ai', 'ioredis'] }],
      'no-restricted-globals': ['error', 'process', 'fetch', 'setInterval', 'Buffer'],
    },
  },
  {
    files: ['web/vite.config.ts', 'jest.config.js', 'test/support/global-*.mjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        setImmediate: 'readonly',
        fetch: 'readonly',
        URL: 'readonly',
        URLSearchParams: 'readonly',
        Buffer: 'readonly',
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        performance: 'readonly',
        module: 'writable',
      },
    },
  },
  {
    // They run in a browser.
    files: ['scripts/start/chaos/*-page.js', 'scripts/film.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['document', 'parent', 'crypto', 'addEventListener', 'HTMLTextAreaElement', 'Event'].map(
          (name) => [name, 'readonly'],
        ),
      ),
    },
  },
  prettier,
);
