// Plugins and features, as the controller reports them.
import { RowOf } from '../../api/rows';
import { isAdmin, rpc } from '../../core/api';
import { Tone } from '../../core/ui';

/** Plugin is a plugin as the controller has it. */
export type Plugin = RowOf<'ctl-system:get-status', 'plugin'>;

/** Feature is a feature that is or can be installed. */
export type Feature = RowOf<'ctl-system:get-status', 'feature'>;

/** status reads the plugins and features. */
export const status = (background = false) => rpc('ctl-system:get-status', {}, { background });

/** pluginTone is how the state of a plugin is shown. */
export const pluginTone = (p: Plugin): Tone =>
  p.serving ? (p.state === 'degraded' ? 'warn' : 'good') : p.state === 'stopped' ? 'soft' : 'bad';

/** need says in a button's title that a role is missing. */
export const need = () => (isAdmin() ? {} : { disabled: true, title: 'This needs the role admin' });
