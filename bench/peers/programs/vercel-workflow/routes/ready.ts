export default (): string => 'ready';
