/** Commands on full disks (security F-12). `tools/faults` tests a running service. Requires root to mount disks. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mayMount } from '../support/own-files.ts';
import { Program } from '../support/program.js';
import { SmallDisk } from '../support/small-disk.js';

/** Exceeds the maximum length of a socket path. */
const LONG_NAME = 'n'.repeat(100);
/** A new database takes 65 MB. The rest has no room for a second one. */
const DATA_MEGABYTES = 96;
let folder: string;
let disk: SmallDisk | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-full-'));
  // Lets the database server's account enter the folder when the tests run as root.
  chmodSync(folder, 0o711);
});

afterEach(() => {
  disk?.unmount();
  rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | null;
  readonly errors: string;
}

function run(program: Program, args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = program.launch(args, { environment });
  let errors = '';
  child.stdin?.end();
  child.stdout?.resume();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, errors })));
}

const settingsOf = (dataDir: string) => ({ data_dir: dataDir, logging: { level: 'error' } });

test.runIf(mayMount())(
  'F-12: a start without space for temporary files says so, and the next one works',
  async () => {
    const temporary = join(folder, 'tmp');
    disk = new SmallDisk(temporary, 1);
    disk.fill();
    const program = new Program(folder, settingsOf(join(folder, LONG_NAME)));
    const refused = await run(program, ['database', 'migrate'], { TMPDIR: temporary });
    expect(refused).toMatchObject({ code: 71, errors: expect.stringContaining('the disk is full. Free some space') });
    expect(refused.errors).toContain(`"${temporary}/latchkey-`);
    disk.free();
    expect(await run(program, ['database', 'migrate'], { TMPDIR: temporary })).toMatchObject({ code: 0 });
  },
  60_000,
);

test.runIf(mayMount())(
  'F-12: commands without space for their output say so, leave no partial file, and work once there is space',
  async () => {
    const full = join(folder, 'full');
    disk = new SmallDisk(full, DATA_MEGABYTES);
    const ours = new Program(folder, settingsOf(join(full, 'data')), { name: 'ours.json' });
    expect(await run(ours, ['database', 'migrate'])).toMatchObject({ code: 0 });
    const before = { here: readdirSync(full), inside: readdirSync(join(full, 'data')) };
    const backup = join(folder, 'backup.tar.gz');
    expect(await run(ours, ['backup', '-o', backup])).toMatchObject({ code: 0 });

    const restored = await run(ours, ['restore', '--force', backup]);
    expect(restored).toMatchObject({ code: 71, errors: expect.stringContaining('the disk is full. Free some space') });
    disk.fill();
    const elsewhere = new Program(folder, settingsOf(join(folder, 'data')), { name: 'elsewhere.json' });
    expect(await run(elsewhere, ['database', 'migrate'])).toMatchObject({ code: 0 });
    for (const [program, args] of [
      [elsewhere, ['backup', '-o', join(full, 'backup.tar.gz')]],
      [ours, ['keys', 'generate', 'p256', '-o', join(full, 'key.pem')]],
      [ours, ['config', 'generate', '-o', join(full, 'latchkey.yaml')]],
    ] as const) {
      const { code, errors } = await run(program, args);
      expect(errors).toBe(`latchkey: cannot write ${args.at(-1)}: no space left on its disk\n`);
      expect(code).toBe(1);
    }
    for (const args of [['serve'], ['database', 'status'], ['backup', '-o', join(folder, 'other.tar.gz')]]) {
      const { code, errors } = await run(ours, args);
      expect(errors).toContain(`no space left on the disk of ${full}/data/`);
      expect(code).toBe(71);
    }
    const created = new Program(folder, settingsOf(join(full, 'new')), { name: 'new.json' });
    expect(await run(created, ['database', 'migrate'])).toMatchObject({
      code: 71,
      errors: expect.stringContaining(`no space left on the disk of ${full}/new/`),
    });

    disk.free();
    rmSync(join(full, 'new'), { recursive: true });
    expect({ here: readdirSync(full), inside: readdirSync(join(full, 'data')) }).toEqual(before);
    expect(await run(ours, ['database', 'status'])).toMatchObject({ code: 0 });
  },
  120_000,
);
