import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Mount points of the two cgroup versions, and the names of their files. */
const VERSIONS = [
  { root: '/sys/fs/cgroup/memory', used: 'memory.usage_in_bytes', limit: 'memory.limit_in_bytes', unlimited: '-1' },
  { root: '/sys/fs/cgroup', used: 'memory.current', limit: 'memory.max', unlimited: 'max' },
];

/** Processes with a common memory limit, like those of a container. */
export class MemoryGroup {
  /** A Node.js executable that starts in the group. */
  node;
  #path;
  #version;

  /**
   * @param folder for a script
   * @returns undefined if the group cannot be created
   */
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

  /** Requires that the group has no processes. */
  remove() {
    rmdirSync(this.#path);
  }
}
