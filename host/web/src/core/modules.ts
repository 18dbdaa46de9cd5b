// Which YANG modules the controller serves now.
import { Fault, call } from './api';

const path = '/rests/data/ietf-yang-library:modules-state/module?fields=name';

/** known are modules that were served when they were asked for last. */
const known = new Set<string>();

/**
 * readIfServed reads what a module serves; undefined if the module is not installed, in which case
 * it is not asked for, or the user may not read it.
 */
export async function readIfServed<T>(module: string, read: () => Promise<T>) {
  try {
    if (!known.has(module) && !(await isServed(module))) return undefined;
    const got = await read();
    known.add(module);
    return got;
  } catch (e) {
    known.delete(module);
    if (e instanceof Fault && e.status) return undefined;
    throw e;
  }
}

/** isServed reports whether a module is served, or may be if the user may not read the list. */
async function isServed(module: string): Promise<boolean> {
  const list = await call<Record<string, { name: string }[]>>(path, { background: true }).catch(
    (e: unknown) => {
      if (e instanceof Fault && e.status) return undefined;
      throw e;
    },
  );
  return list?.['ietf-yang-library:module']?.some(m => m.name === module) ?? true;
}
