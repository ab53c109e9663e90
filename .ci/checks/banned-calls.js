/**
 * Calls that only one folder each may make: clock, randomness, environment, console, network. Other modules receive
 * these as dependencies, which tests can replace. Also bans calls that depend on the machine's time zone or are broken
 * in Node.js 20.
 */
import { readdirSync, readFileSync } from 'node:fs';

const BANNED = [
  { call: /\bDate\.now\(/, allowed: /^src\/platform\/base\/clock\.ts$|^src\/platform\/log\// },
  { call: /\bnew Date\(\)/, allowed: /^$/ },
  { call: /\bMath\.random\(/, allowed: /^$/ },
  { call: /\bprocess\.env\b/, allowed: /^src\/(config\/|platform\/config\/|main\.ts$)/ },
  { call: /\bconsole\.\w/, allowed: /^$/ },
  // Local time of the machine: twice a year, its days have 23 or 25 hours.
  { call: /\.(?:[gs]et(?:FullYear|Month|Date|Day|Hours|Minutes)|getTimezoneOffset)\(/, allowed: /^$/ },
  { call: /\.toLocale(?:Date|Time)?String\(/, allowed: /^$/ },
  // `parseUrl` documents the reason.
  { call: /\bURL\.canParse\(/, allowed: /^$/ },
  { call: /(?<![.\w])fetch\(/, allowed: /^src\/platform\/outbound-http\/|^src\/browser\/assets\// },
];

let read = 0;
let found = 0;
for (const name of readdirSync('src', { recursive: true })) {
  const path = `src/${name}`;
  if (!/\.tsx?$/.test(path) || /\.test\.tsx?$/.test(path)) continue;
  read += 1;
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (/^\s*(\*|\/\/)/.test(line)) continue;
    for (const { call, allowed } of BANNED) {
      if (!call.test(line) || allowed.test(path)) continue;
      found += 1;
      process.stderr.write(`${path}:${index + 1}: ${line.trim()}\n`);
    }
  }
}
process.stdout.write(`${read} source files read, ${found} calls outside of the folder that may make them\n`);
process.exitCode = found === 0 && read > 0 ? 0 : 1;
