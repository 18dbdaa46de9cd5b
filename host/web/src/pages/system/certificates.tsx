// The certificate of the controller.
import { rpc } from '../../core/api';
import { count, stamp, useData } from '../../core/data';
import { to } from '../../core/route';
import { Code, Empty, Loaded, Mark } from '../../core/ui';

/**
 * days until a certificate ends, read from its DER by the second UTCTime or GeneralizedTime in it.
 */
function ends(base64: string): Date | null {
  const der = atob(base64.replace(/-----[^-]+-----|\s/g, '')),
    times = [...der.matchAll(/\x17\x0d(\d{12})Z|\x18\x0f(\d{14})Z/g)].map(m =>
      m[1] ? (Number(m[1].slice(0, 2)) < 50 ? '20' : '19') + m[1] : m[2]!,
    );
  const t = times[1];
  return t ? new Date(t.replace(/^(....)(..)(..)(..)(..)(..).*/, '$1-$2-$3T$4:$5:$6Z')) : null;
}

/** Certificates shows until when the certificate holds. */
export function Certificates() {
  const data = useData(
    () => rpc('aaa-cert-rpc:getCtlCertificate').then(r => r['ctl-cert'] ?? ''),
    [],
  );
  if (data.error?.status === 404)
    return (
      <Empty
        action={
          <a class="button" href={to(['system', 'features'], { q: 'aaa-cert' })}>
            Install ctl-aaa-cert
          </a>
        }
      >
        The feature that shows and replaces certificates is not installed.
      </Empty>
    );
  return (
    <Loaded data={data}>
      {v => {
        const end = v ? ends(v) : null,
          days = end ? Math.floor((end.getTime() - Date.now()) / 864e5) : 0;
        return v ? (
          <section class="card">
            <h2>The controller’s certificate</h2>
            {end && (
              <p>
                <Mark tone={days < 0 ? 'bad' : days < 30 ? 'warn' : 'good'}>
                  {days < 0 ? 'ended' : `${count(days, 'day')} left`}
                </Mark>
                , until {stamp(end)}
              </p>
            )}
            <details>
              <summary>The certificate as PEM</summary>
              <Code>{v}</Code>
            </details>
            <p class="actions">
              <a class="button plain" href={to(['api'], { q: 'aaa-cert-rpc' })}>
                Replace it by the API
              </a>
            </p>
          </section>
        ) : (
          <Empty>
            The controller has no certificate yet: it is created at the first start with HTTPS.
          </Empty>
        );
      }}
    </Loaded>
  );
}
