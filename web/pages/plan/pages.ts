/** Plan management. */
export { Plan } from './plan.tsx';
