import { createProgram } from '../../cli/program.js';

/** Returns a command and all its subcommands. */
const withBelow = (command) => [command, ...command.commands.flatMap(withBelow)];

const nameOf = (command) =>
  command.parent === null ? '' : `${nameOf(command.parent)} ${command.name()}`.trim();

const program = createProgram({}, { version: '0.0.0' });
const verbs = withBelow(program).filter(({ commands }) => commands.length === 0);

/** Formats a command with its arguments and own options, as help shows them. */
function lineOf(command) {
  const taken = command.registeredArguments.map((each) => {
    const name = each.name() + (each.variadic ? '...' : '');
    return each.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options.map(({ long }) => long.slice(2));
  return [nameOf(command), ...taken, ...(options.length > 0 ? ['·', ...options] : [])].join(' ');
}

it('each command takes these arguments and options', () => {
  expect(verbs.map(lineOf)).toEqual(COMMANDS.trim().split('\n'));
});

it('the help of each command says what it does, and what each of its options is for', () => {
  for (const command of withBelow(program)) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 });
    command.outputHelp();
    expect(command.description()).not.toBe('');
    expect(help).toContain('--url <url>');
    for (const { flags, description } of command.options) {
      expect(help).toContain(flags);
      expect([flags, description]).not.toContain('');
    }
  }
});

const COMMANDS = `
run list · query status agent since limit
run count · query status agent since group-by
run describe <run>
run show <run> · follow events
run watch <run> · timeout
run stop [runs...] · query status agent since reason yes dry-run mode
run retry [runs...] · query status agent since reason yes dry-run
run resume [runs...] · query status agent since reason yes dry-run
run fork <run> · step session reason
approval list · older-than limit
approval describe <call>
approval approve [call] · input input-hash reason query status agent since tool yes dry-run
approval deny [call] · input-hash reason query status agent since tool yes dry-run
approval answer <call> · result error input-hash yes reason
approval extend <call> · by input-hash yes reason
session show <session>
session export <session>
session delete <session> · yes
user export [user] · owner
user delete [user] · owner yes
webhook list
webhook test <receiver>
agent list
agent start <agent> <message> · session at
agent pause <agent> · all-tenants reason
agent unpause <agent> · all-tenants reason
agent schedule create <name> <agent> <text> · cron every time-zone session owner overlap when-busy paused
agent schedule list
agent schedule describe <name>
agent schedule pause <name> · reason
agent schedule resume <name> · reason
agent schedule trigger <name>
agent schedule delete <name>
audit list · since action actor limit
audit export · since
audit verify
audit open <pseudonym>
usage report · by since until
eval record <session> · out
eval run <path> · agents model baseline live fail-on junit
doctor · engines-only
mcp · allow-writes
init [folder]
dev [file] [command...] · port data
api [file]
worker list · leases
`;
