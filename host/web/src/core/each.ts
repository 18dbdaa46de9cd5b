// Many requests, a few at once.
/** each calls f for all of list, a few at once; what fails is left out and counted. */
export async function each<T, R>(
  list: T[],
  f: (t: T) => Promise<R>,
  most = 6,
): Promise<{ done: [T, R][]; failed: [T, string][] }> {
  const rest = [...list],
    done: [T, R][] = [],
    failed: [T, string][] = [];
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (let t = rest.shift(); t !== undefined; t = rest.shift())
        try {
          done.push([t, await f(t)]);
        } catch (e) {
          failed.push([t, (e as Error).message]);
        }
    }),
  );
  return { done, failed };
}
