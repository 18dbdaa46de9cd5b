// The parts that pages are made of.
export * from './act';
export * from './away';
export * from './chart';
export * from './code';
export * from './dialog';
export * from './fields';
export * from './mark';
export * from './states';
export * from './table';
export * from './tabs';
export * from './title';
