import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const KINDS = [
  [ts.SymbolFlags.Function, 'function'],
  [ts.SymbolFlags.Class, 'class'],
  [ts.SymbolFlags.Interface, 'interface'],
  [ts.SymbolFlags.TypeAlias, 'type'],
  [ts.SymbolFlags.Variable, 'constant'],
];
const FORMAT =
  ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
/** Longer types are named, and not written out. */
const MOST_CHARS = 800;

/** A page for each entry of the package, made of the declarations of its sources, and their list. */
export function referenceOf(root) {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            title: `${name}${entry.slice(1)}`,
            page: `reference/${entry === '.' ? 'main' : entry.slice(2).replaceAll('/', '-')}.md`,
            file: join(root, target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')),
          },
        ],
  );
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      jsx: ts.JsxEmit.ReactJSX,
      strict: true,
      skipLibCheck: true,
    },
  );
  const checker = program.getTypeChecker();
  const pages = new Map(
    entries.map(({ title, page, file }) => {
      const module = checker.getSymbolAtLocation(program.getSourceFile(file));
      const exported = checker.getExportsOfModule(module).map((each) => describe(each, checker));
      const sorted = exported.sort((a, b) => (a.name < b.name ? -1 : 1));
      return [page, [`# ${title}`, ...sorted.map(toSection)].join('\n\n') + '\n'];
    }),
  );
  const list = entries.map(({ title, page }) => `- [\`${title}\`](./${page.split('/')[1]})`);
  const intro = 'What each entry of the package exports, from its types.';
  return pages.set('reference/index.md', `# Types\n\n${intro}\n\n${list.join('\n')}\n`);
}

function describe(exported, checker) {
  const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
  const symbol = isAlias ? checker.getAliasedSymbol(exported) : exported;
  const declaration = symbol.declarations?.[0];
  const kind = KINDS.find(([flag]) => (symbol.flags & flag) !== 0)?.[1] ?? 'value';
  return {
    name: exported.getName(),
    kind,
    code: declaration === undefined ? '' : codeOf(symbol, declaration, kind, checker),
    text: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
    tags: symbol.getJsDocTags(checker).map(({ name, text }) => ({
      name,
      text: ts.displayPartsToString(text),
    })),
  };
}

/** The declaration as a reader needs it: signatures of functions, members of interfaces. */
function codeOf(symbol, declaration, kind, checker) {
  const name = symbol.getName();
  if (kind === 'interface' || kind === 'type') {
    const own = declaration.getText().replace(/^export (declare )?/, '');
    return own.length > MOST_CHARS * 4 ? '' : own;
  }
  if (kind === 'class') return `class ${name}`;
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
  const signatures = type.getCallSignatures();
  const lines =
    signatures.length > 0
      ? signatures.map(
          (each) => `function ${name}${checker.signatureToString(each, declaration, FORMAT)}`,
        )
      : [`const ${name}: ${checker.typeToString(type, declaration, FORMAT)}`];
  return lines.filter((line) => line.length <= MOST_CHARS).join('\n');
}

function toSection({ name, kind, code, text, tags }) {
  const examples = tags.filter((tag) => tag.name === 'example').map((tag) => fenced(tag.text));
  const notes = tags
    .filter((tag) => ['param', 'returns', 'throws', 'deprecated'].includes(tag.name))
    .map((tag) => `- *${tag.name}* ${toProse(tag.text)}`);
  return [
    `## ${name}`,
    `*${kind}*${text === '' ? '' : ` – ${toProse(text)}`}`,
    ...(notes.length > 0 ? [notes.join('\n')] : []),
    ...(code === '' ? [] : [fenced(code)]),
    ...examples,
  ].join('\n\n');
}

function fenced(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}

/** One paragraph, in which braces and brackets are text. */
function toProse(text) {
  return text
    .replace(/\s*\n\s*/g, ' ')
    .split(/(`[^`]*`)/)
    .map((part, at) => (at % 2 === 1 ? part : part.replaceAll('{{', '&#123;&#123;')))
    .join('');
}
