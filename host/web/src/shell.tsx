// The frame of all pages: navigation, who is logged in, what is shown.
import { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Fault, loggedOut, me, resume } from './core/api';
import { go, route, to } from './core/route';
import { openTroubles } from './core/troubles';
import { LoginForm } from './login';
import { isSwitch } from './map/graph';
import { SourceBanner } from './map/sources';
import { graphs } from './map/store';
import { AccessPage } from './pages/access/index';
import { AccountPage } from './pages/account/index';
import { BierPage } from './pages/bier/index';
import { DevicesPage } from './pages/devices/index';
import { FindPage } from './pages/find/index';
import { MapPage } from './pages/map/index';
import { NowPage } from './pages/now/index';
import { PluginsPage } from './pages/plugin/index';
import { ReposPage } from './pages/repos/index';
import { SystemPage } from './pages/system/index';
import { VlansPage } from './pages/vlans/index';
import { restart } from './start';
import { Away, Dialog, Empty, Failure, Search, Title } from './core/ui';

const lazy = (load: () => Promise<ComponentType>): ComponentType =>
  function Lazy() {
    const [page, set] = useState<{ C?: ComponentType; error?: string }>({});
    useEffect(() => {
      load().then(
        C => set({ C }),
        (e: unknown) => set({ error: String(e) }),
      );
    }, []);
    if (page.error) return <Failure error={new Fault(0, page.error)} />;
    return page.C ? <page.C /> : <div class="skeleton" role="status" data-state="loading" />;
  };

const pages: Record<string, ComponentType> = {
  now: NowPage,
  map: MapPage,
  devices: DevicesPage,
  vlans: VlansPage,
  find: FindPage,
  bier: BierPage,
  repos: ReposPage,
  system: SystemPage,
  access: AccessPage,
  account: AccountPage,
  api: lazy(() =>
    import('./pages/explorer/explorer').then(m => () => (
      <m.ExplorerPage
        switches={[...(graphs.value?.values() ?? [])].flatMap(g =>
          [...g.nodes.values()].filter(n => isSwitch(g, n.id)),
        )}
      />
    )),
  ),
  plugin: PluginsPage,
  yang: lazy(() => import('./pages/yang/yang').then(m => m.YangPage)),
};

const menu: [string, string, string][] = [
  ['now', 'Now', 'n'],
  ['map', 'Map', 'm'],
  ['devices', 'Devices', 'd'],
  ['vlans', 'VLANs', 'v'],
  ['bier', 'BIER', 'b'],
  ['repos', 'Repos', 'r'],
  ['plugin', 'Plugins', 'p'],
  ['system', 'System', 's'],
  ['access', 'Access', 'c'],
  ['api', 'API', 'a'],
  ['yang', 'YANG', 'y'],
];

/** Shell is the frame: menu, box to find, keys, and the page of the address. */
export function Shell() {
  const now = route.value.path[0] ?? 'now',
    Page = pages[now],
    [help, setHelp] = useState(false),
    [open, setOpen] = useState(false);
  useEffect(() => {
    let g = 0;
    const key = (e: KeyboardEvent) => {
      const t = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || t.closest('input, textarea, select, dialog'))
        return;
      const goTo = menu.find(([, , k]) => k === e.key);
      if (g && Date.now() - g < 1500 && goTo) {
        e.preventDefault();
        e.stopPropagation();
        go([goTo[0]]);
      } else if (e.key === '?') setHelp(true);
      else if (e.key === '/' && !t.closest('canvas')) {
        e.preventDefault();
        document.querySelector<HTMLInputElement>('header [type=search]')?.focus();
      }
      g = e.key === 'g' ? Date.now() : 0;
    };
    addEventListener('keydown', key, true);
    return () => removeEventListener('keydown', key, true);
  }, []);
  useEffect(() => {
    document.querySelector('main')?.scrollTo(0, 0);
    setOpen(false);
  }, [now]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={e => {
          e.preventDefault();
          document.querySelector<HTMLElement>('main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <header>
        <a class="brand" href={to(['now'])}>
          <img src="/web/static/icon.svg" alt="" width="22" height="22" /> ctl
        </a>
        <button
          class="plain burger"
          aria-expanded={open}
          aria-controls="menu"
          onClick={() => setOpen(!open)}
        >
          Menu
        </button>
        <nav id="menu" class={open ? 'open' : ''} aria-label="Pages">
          {menu.map(([id, label]) => (
            <a key={id} href={to([id])} aria-current={id === now ? 'page' : undefined}>
              {label}
              {id === 'now' && openTroubles() && (
                <>
                  {' '}
                  <span class="badge">{openTroubles()}</span>
                </>
              )}
            </a>
          ))}
        </nav>
        <form class="find" role="search" onSubmit={e => e.preventDefault()}>
          <Search
            label="Find MAC, IP or name"
            value={now === 'find' ? (route.value.query.get('for') ?? '') : ''}
            onInput={() => undefined}
            onEnter={v => go(['find'], { for: v })}
          />
        </form>
        <a
          class="who"
          href={to(['account'])}
          title={`Roles: ${me.value?.roles.join(', ') || 'none'}`}
        >
          {me.value?.user}
          {me.value?.roles.length ? <small class="soft"> · {me.value.roles.join(', ')}</small> : ''}
        </a>
      </header>
      <Away />
      <SourceBanner />
      <main id="main" tabIndex={-1}>
        {Page ? (
          <Page key={now} />
        ) : (
          <>
            <Title>Not found</Title>
            <Empty
              action={
                <a class="button" href={to(['map'])}>
                  To the map
                </a>
              }
            >
              There is no page “{route.value.path.join('/')}”.
            </Empty>
          </>
        )}
      </main>
      {loggedOut.value && (
        <Dialog title="The session has ended">
          <p>Log in to continue.</p>
          <LoginForm done={() => void resume().then(restart, restart)} />
        </Dialog>
      )}
      {help && (
        <Dialog title="Keys" onClose={() => setHelp(false)}>
          <dl class="facts">
            {menu.map(([id, label, k]) => (
              <>
                <dt key={id}>
                  <kbd>g</kbd> <kbd>{k}</kbd>
                </dt>
                <dd>{label}</dd>
              </>
            ))}
            <dt>
              <kbd>/</kbd>
            </dt>
            <dd>Find</dd>
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>This list; the keys of the map are listed below the map</dd>
          </dl>
        </Dialog>
      )}
    </>
  );
}
