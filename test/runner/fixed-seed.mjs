// Property tests try the same cases in every run, so failures recur. FC_SEED tries others.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });
