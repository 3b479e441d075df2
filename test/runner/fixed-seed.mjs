// Property tests try the same cases in every run: what is red is red again. FC_SEED tries others.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });
