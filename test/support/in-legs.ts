/** Imported first by a suite whose lab agent is to have the shape `leg`. */
process.env['TEST_LAB_SHAPE'] = 'leg';
