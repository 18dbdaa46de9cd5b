import assert from 'node:assert';
import { test } from 'node:test';
import { csv } from './data';

test('cells of CSV are text where a spreadsheet would run them', () => {
  const cells = ['=1+1', '+a', '-a', '@a', '\ta', '\ra', '-7', '+7.5', '-1e3', 'a=1', 'a,"b"', -7];
  assert.equal(csv([cells]), `'=1+1,'+a,'-a,'@a,'\ta,"'\ra",-7,+7.5,-1e3,a=1,"a,""b""",-7\n`);
});
