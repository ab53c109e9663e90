/**
 * Finds awaits of work outside JavaScript (files, thread pool, network, timers, native add-ons) that bypass
 * `outside(...)` of src/platform/base/tasks.ts. Their time and log lines would be attributed to the wrong request
 * (decision 0006). The check uses declarations: a promise from a function that Node.js or a package declares is outside
 * work, and so is a manually created promise.
 */
import { join } from 'node:path';
import ts from 'typescript';

/** Code that never runs in a request, or not in the service. */
const NOT_FOR_REQUESTS = [
  'src/main.ts',
  'src/browser/assets/',
  'src/cli/',
  'src/app/',
  'src/config/',
  'src/domain/import/',
  'src/platform/config/',
  'src/platform/embedded-postgres/',
  'src/platform/postgres/dump/',
  'src/platform/postgres/migrator/',
];

const HASHES = '`hash-queue.ts` awaits every scheme through `outside`';
const LISTENING = 'listeners are opened and closed at start and stop';
const CONNECTING =
  'connections are opened and closed by the pool; `connection.ts` hands results over to the task that waits';

/** Files whose calls need no wrapper, with the reason. Each must contain a match. */
const EXCEPTIONS = {
  'src/domain/accounts/passwords/strength-thread.ts': '`strength-estimator.ts` awaits the thread through `outside`',
  'src/features/account-api/context/deadline.ts': 'it resumes the task of the request itself',
  'src/features/account-api/context/list-loader.ts':
    'what it collects is read from the database, on behalf of the request (`resumeTask`)',
  'src/features/account-api/endpoint.ts': 'the fields of a document run in the stretches of its request',
  'src/platform/base/files.ts': 'the data directory and the embedded server use it, at the start and in commands',
  'src/platform/http/listen.ts': LISTENING,
  'src/platform/http/server.ts': LISTENING,
  'src/platform/log/descriptor-sink.ts': 'the log is flushed when the process stops',
  'src/platform/password-hash/schemes.ts': HASHES,
  'src/platform/postgres/choose-server.ts': CONNECTING,
  'src/platform/postgres/connect.ts': CONNECTING,
  'src/platform/postgres/connection.ts': CONNECTING,
  'src/platform/postgres/open-database.ts':
    'it opens before the first request, and `ping` awaits the answer through `outside`',
  'src/platform/postgres/session-commands.ts': CONNECTING,
};

const TASKS = 'src/platform/base/tasks.ts';
/**
 * @param program of the product without tests; @param root directory of `package.json`
 * @returns the number of files read, and a line for each problem
 */
export function outsideAwaits(program, root) {
  const judge = new Judge(program.getTypeChecker(), join(root, TASKS));
  let read = 0;
  const found = [];
  for (const file of program.getSourceFiles()) {
    const name = file.fileName.slice(root.length + 1);
    if (!name.startsWith('src/')) continue;
    read += 1;
    if (NOT_FOR_REQUESTS.some((path) => name.startsWith(path))) continue;
    visit(file, (node) => {
      if (!judge.isOutsideWork(node) || judge.isWrapped(node)) return;
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push({ name, place: `${name}:${line + 1}`, text: node.getText().split('\n', 1)[0] });
    });
  }
  const problems = [
    ...found.filter(({ name }) => !(name in EXCEPTIONS)).map(({ place, text }) => `${place}: ${text}`),
    ...Object.keys(EXCEPTIONS)
      .filter((path) => !found.some(({ name }) => name === path))
      .map((path) => `${path} awaits nothing from outside any more: remove the exception`),
  ];
  return { read, problems };
}

class Judge {
  #checker;
  #tasks;

  /** @param tasks path of the file that declares `outside` and `resumeTask` */
  constructor(checker, tasks) {
    this.#checker = checker;
    this.#tasks = tasks;
  }

  isOutsideWork(node) {
    if (ts.isNewExpression(node)) return node.expression.getText() === 'Promise';
    if (ts.isForOfStatement(node)) return node.awaitModifier !== undefined;
    if (!ts.isCallExpression(node)) return false;
    if (node.expression.getText() === 'Promise.withResolvers') return true;
    return this.#mayBeOutside(node) && this.#isPromise(node) && isOutside(this.#declarationOf(node));
  }

  /** Returns true inside the argument of `outside(...)`, or of a promise whose executor resumes its task. */
  isWrapped(node) {
    if (ts.isNewExpression(node) && this.#callsTasks(node)) return true;
    for (let one = node.parent; one !== undefined; one = one.parent) {
      if (ts.isCallExpression(one) && this.#isOfTasks(one, 'outside')) return true;
    }
    return false;
  }

  /** Returns false if no signature of the function is declared outside. Faster than the type of the whole call. */
  #mayBeOutside({ expression }) {
    const signatures = this.#checker.getTypeAtLocation(expression).getCallSignatures();
    return signatures.some(({ declaration }) => isOutside(declaration));
  }

  #isPromise(call) {
    const type = this.#checker.getTypeAtLocation(call);
    return (type.isUnion() ? type.types : [type]).some(
      (one) => this.#checker.getPromisedTypeOfPromise(one) !== undefined,
    );
  }

  #declarationOf(call) {
    return this.#checker.getResolvedSignature(call)?.declaration;
  }

  #callsTasks(node) {
    let calls = false;
    visit(node, (one) => {
      calls ||= ts.isCallExpression(one) && this.#isOfTasks(one, 'resumeTask');
    });
    return calls;
  }

  #isOfTasks(call, name) {
    if (!call.expression.getText().endsWith(name)) return false;
    const declaration = this.#declarationOf(call);
    return declaration?.name?.getText() === name && declaration.getSourceFile().fileName === this.#tasks;
  }
}

/** Returns true if Node.js or a package declares it, not the project or the language. */
function isOutside(declaration) {
  const path = declaration?.getSourceFile().fileName ?? '';
  return path.includes('/node_modules/') && !path.includes('/node_modules/typescript/');
}

function visit(node, each) {
  each(node);
  ts.forEachChild(node, (child) => visit(child, each));
}
