/**
 * Runs Roundcube on PHP's web server, and Dovecot, the mail server that it signs in to with the users' access tokens.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const { FOLDER, PORT } = process.env;
process.env.ROUNDCUBE_CONFIG_DIR = FOLDER;
// They end with this process in any case.
const start = (...command) => spawn('setpriv', ['--pdeathsig', 'TERM', ...command], { stdio: 'inherit' });
const servers = [
  start('/usr/sbin/dovecot', '-F', '-c', join(FOLDER, 'dovecot.conf')),
  start('php', '-q', '-S', `127.0.0.1:${PORT}`, '-t', '/var/lib/roundcube'),
];
let running = servers.length;
const stop = () => {
  for (const server of servers) server.kill('SIGTERM');
};
for (const server of servers) {
  server.once('exit', () => {
    running -= 1;
    // Neither is useful alone, and the next start needs the files of both.
    if (running === 0) process.exit();
    stop();
  });
}
process.once('SIGTERM', stop);
