import assert from 'node:assert/strict';

/**
 * Presses Enter once for each possible response to this operation, and checks the message on the page. Responses that
 * are hard to provoke are mocked, so those requests do not reach the service.
 * @param answers by message: the data of the response, or the code of an error without data
 */
export async function checkMessages(page, operation, answers) {
  for (const [text, answer] of Object.entries(answers)) {
    const body =
      typeof answer === 'string'
        ? { errors: [{ message: 'made up', extensions: { code: answer, requestId: 'POST-1' } }], data: null }
        : { data: answer };
    await mockResponse(page, operation, { body });
    await page.keyboard.press('Enter');
    // An earlier message may still be visible; pressing Enter while a request is pending would be ignored.
    await page.waitForFunction(() => globalThis.madeAnswers === 1 && !document.querySelector('[aria-busy=true]'));
    await expectText(page, text);
  }
  await mockResponse(page, operation, undefined);
}

/**
 * Mocks the response to the operation from now on.
 * @param answer `body`, `status`, `headers`; undefined: the real one
 */
export async function mockResponse(page, operation, answer) {
  await page.evaluate(
    ([name, made]) => {
      globalThis.realFetch ??= globalThis.fetch;
      globalThis.madeAnswers = 0;
      globalThis.fetch = async (address, options) => {
        const isMeant = made !== null && JSON.parse(options?.body ?? '{}').operationName === name;
        if (!isMeant) return globalThis.realFetch(address, options);
        globalThis.madeAnswers += 1;
        const headers = { 'content-type': 'application/json', ...made.headers };
        return new Response(JSON.stringify(made.body), { status: made.status ?? 200, headers });
      };
    },
    [operation, answer ?? null],
  );
}

async function expectText(page, text) {
  try {
    await page.getByText(text).last().waitFor();
  } catch {
    assert.fail(`"${text}" is not in: ${await page.locator('body').innerText()}`);
  }
}
