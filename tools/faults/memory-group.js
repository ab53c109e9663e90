import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the kernel keeps groups of processes, in its two versions, and the names of their files. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', used: 'memory.usage_in_bytes', limit: 'memory.limit_in_bytes', unlimited: '-1' },
  { root: '/sys/fs/cgroup', used: 'memory.current', limit: 'memory.max', unlimited: 'max' },
];

/** Processes that share a limit of memory, as those of a container do. */
export class MemoryGroup {
  /** A Node.js that begins in the group. */
  node;
  #path;
  #version;

  /** @param folder of a script. @returns undefined where no such group can be made */
  static make(folder) {
    const name = `latchkey-fault-${process.pid}`;
    for (const version of VERSIONS) {
      const path = join(version.root, name);
      try {
        mkdirSync(path);
      } catch {
        continue;
      }
      if (existsSync(join(path, version.limit))) return new MemoryGroup(folder, path, version);
      rmdirSync(path);
    }
    return undefined;
  }

  constructor(folder, path, version) {
    this.#path = path;
    this.#version = version;
    this.node = join(folder, 'node-in-group');
    const script = `#!/bin/sh\necho $$ > ${path}/cgroup.procs\nexec ${process.execPath} "$@"\n`;
    writeFileSync(this.node, script, { mode: 0o755 });
  }

  get usedBytes() {
    return Number(readFileSync(join(this.#path, this.#version.used), 'utf8'));
  }

  limit(bytes) {
    writeFileSync(join(this.#path, this.#version.limit), String(bytes));
  }

  lift() {
    this.limit(this.#version.unlimited);
  }

  /** Once no process is in it. */
  remove() {
    rmdirSync(this.#path);
  }
}
